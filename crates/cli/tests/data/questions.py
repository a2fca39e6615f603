"""The part of make.py about conditions, questions, and what is found in sorted arrays and runs."""
import numpy as np


def write(save, case, x):
    rng = np.random.default_rng(20261124)
    # A type of each size, with other ones for lengths, ranks and flags.
    codes = {"f2": ("i8", "u4"), "i4": ("u4", "i8"), "u1": ("u1", "i4"), "f8": ("i4", "u8")}
    names = list(codes)
    one = lambda v, dtype=np.uint32: np.array([v]).astype(dtype)
    flat = x.ravel()
    few = {code: rng.integers(0, 7, 150).astype(code) for code in codes}
    ups = {code: (np.sort(rng.integers(0, 9, 120)).astype(code), np.sort(rng.integers(2, 12, 70)).astype(code)) for code in codes}
    for code, a in few.items():
        of = names[(names.index(code) + 1) % 4]
        flags = few[of]
        save(f"ask_{code}", a)
        this, both = ["--in", f"ask_{code}.npy"], ["--in", f"ask_{code}.npy", "--in", f"ask_{of}.npy"]
        meant, rest = a > a.dtype.type(3), a == a.dtype.type(2)
        part = np.concatenate([a[meant], a[rest & ~meant], a[~meant & ~rest]])
        three = ["--op", "x > 3", "--then", "x > 3 || x == 2"]
        sizes = np.array([meant.sum(), (rest & ~meant).sum()], np.uint32)
        case(f"partition_three_{code}", ["partition", *three, *this], part, count=sizes)
        case(f"partition_count_{code}", ["partition", "--op", "x > 3", *this], np.concatenate([a[meant], a[~meant]]), count=sizes[:1])
        flagged = flags != 0
        case(f"partition_flags_{code}", ["partition", "--flags", *both], np.concatenate([a[flagged], a[~flagged]]), count=one(flagged.sum()))
        case(f"select_flags_{code}", ["select", "--flags", *both], a[flagged], indices=np.flatnonzero(flagged).astype(np.uint32))
        case(f"select_indices_{code}", ["select", "--op", "x > 3", *this], a[meant], indices=np.flatnonzero(meant).astype(np.uint32))
        case(f"count_{code}", ["count", *this], one(np.count_nonzero(a)))
        case(f"find_{code}", ["find", "--op", "x == 6", *this], one(np.argmax(a == 6)))
        case(f"any_{code}", ["any", "--op", "x > 6", *this], np.array([False]))
        case(f"all_{code}", ["all", "--op", "x < 7", *this], np.array([True]))
        case(f"sorted_not_{code}", ["is-sorted", *this], np.array([False]))
        # Lengths of every integer type; values of every kind of bits.
        lengths, noise = rng.integers(0, 5, 150), np.frombuffer(rng.bytes(150 * a.itemsize), code)
        save(f"times_{code}", lengths.astype(codes[code][0])), save(f"noise_{code}", noise)
        case(f"rle_decode_{code}", ["rle-decode", "--in", f"noise_{code}.npy", "--in", f"times_{code}.npy"], np.repeat(noise, lengths))
        a, b = ups[code]
        save(f"up_{code}", a), save(f"with_{code}", b)
        ups_of = ["--in", f"up_{code}.npy", "--in", f"with_{code}.npy"]
        case(f"sorted_{code}_up", ["is-sorted", "--in", f"up_{code}.npy"], np.array([True]))
        case(f"sorted_{code}_down", ["is-sorted", "--descending", "--in", f"up_{code}.npy"], np.array([False]))
        case(f"search_count_{code}", ["search", "--side", "count", *ups_of], (a[:, None] == b).sum(axis=0).astype(np.uint32))
        values = np.unique(np.concatenate([a, b]))
        times = np.abs((a[:, None] == values).sum(axis=0) - (b[:, None] == values).sum(axis=0))
        case(f"symmetric_difference_{code}", ["symmetric-difference", *ups_of], np.repeat(values, times))
        merged = np.argsort(np.concatenate([a, b]), kind="stable") < a.size
        ranks = rng.integers(0, 191, (4, 5)).astype(codes[code][1])
        save(f"ranks_{code}", ranks)
        ranked = np.concatenate([[0], np.cumsum(merged)])[ranks.astype(int)].astype(np.uint64 if ranks.itemsize == 8 else np.uint32)
        case(f"co_ranks_{code}", ["co-ranks", *ups_of, "--in", f"ranks_{code}.npy"], ranked)
    # Of several arrays, of the index, of nothing.
    two = ["--in", "x_f4.npy", "--in", "y_f4.npy"]
    y = np.load("y_f4.npy")
    case("all_equal", ["all", "--op", "x == y", "--in", "x_f4.npy", "--in", "x_f4.npy"], np.array([True]))
    case("any_equal", ["any", "--op", "x == y", *two], np.array([bool((x == y).any())]))
    case("count_near", ["count", "--op", "abs(x - y) < 9 && i > 20", *two], one((np.abs(x - y).ravel()[21:] < 9).sum()))
    case("find_index", ["find", "--op", "i > 20 && x > y", *two], one(np.flatnonzero((x > y).ravel()[21:])[0] + 21))
    case("find_nothing", ["find", "--op", "x > 1000", "--in", "x_f4.npy"], np.zeros(0, np.uint32))
    case("find_empty", ["find", "--in", "empty.npy"], np.zeros(0, np.uint32))
    case("any_empty", ["any", "--in", "empty.npy"], np.array([False]))
    case("all_empty", ["all", "--in", "empty.npy"], np.array([True]))
    case("count_empty", ["count", "--in", "empty.npy"], one(0))
    case("count_truth", ["count", "--in", "truth.npy"], one((x[0] > 0).sum()))
    case("sorted_empty", ["is-sorted", "--in", "empty.npy"], np.array([True]))
    case("rle_decode_empty", ["rle-decode", "--in", "empty.npy", "--in", "no_lengths.npy"], np.zeros(0, np.float32))
    save("no_lengths", np.zeros(0, np.int64)), save("wrong_lengths", np.array([1, 2, -3, 4], np.int64)), save("far_ranks", np.array([3, 191]))
    save("huge_lengths", np.array([1 << 31, 0, 1 << 31, 0])), save("below_ranks", np.array([3, -1]))
    case("select_of_two", ["select", "--op", "y > x", *two], flat[(y > x).ravel()])
    case("partition_of_two", ["partition", "--op", "x > y", "--then", "y > 20", *two],
         np.concatenate([flat[m.ravel()] for m in (x > y, (x <= y) & (y > 20), (x <= y) & (y <= 20))]))
    nothing = ["--op", "x > 0", "--then", "x < 0", "--in", "empty.npy"]
    case("partition_then_empty", ["partition", *nothing], np.zeros(0, np.float32), count=np.zeros(2, np.uint32))
    case("select_truth_flags", ["select", "--flags", "--in", "truth.npy", "--in", "truth.npy"], np.ones((x[0] > 0).sum(), bool))
    # By an order of one's own: tens. Which of equal elements a set holds is C++'s rule.
    rising = [v[np.argsort(v // 10, kind="stable")] for v in np.random.default_rng(20261125).integers(0, 400, (2, 90)).astype(np.uint32)]
    a, b = rising[0], rising[1][:70]
    save("tens_a", a), save("tens_b", b)
    tens = ["--op", "x / 10 < y / 10", "--in", "tens_a.npy", "--in", "tens_b.npy"]
    for side in ["left", "right"]:
        case(f"search_by_{side}", ["search", "--side", side, *tens], np.searchsorted(a // 10, b // 10, side).astype(np.uint32))
    case("search_by_count", ["search", "--side", "count", *tens], (a[:, None] // 10 == b // 10).sum(axis=0).astype(np.uint32))
    of = lambda v, ten: [int(x) for x in v if x // 10 == ten]
    pairs = [(of(a, ten), of(b, ten)) for ten in range(40)]
    flat_of = lambda parts: np.array([x for part in parts for x in part], np.uint32)
    case("union_by", ["union", *tens], flat_of(x + y[len(x):] for x, y in pairs))
    case("intersection_by", ["intersection", *tens], flat_of(x[:len(y)] for x, y in pairs))
    case("difference_by", ["difference", *tens], flat_of(x[len(y):] for x, y in pairs))
    case("symmetric_difference_by", ["symmetric-difference", *tens], flat_of(x[len(y):] + y[len(x):] for x, y in pairs))
    case("sorted_by", ["is-sorted", *tens[:4]], np.array([True]))
    case("sorted_by_not", ["is-sorted", "--op", "x < y", *tens[2:4]], np.array([bool((a[1:] >= a[:-1]).all())]))
    # The ends of each segment's order; an empty one has none.
    for code in ["f8", "f2", "i4", "u1", "i8"]:
        name, a = ("inner_u4", "few_f2") if code == "f2" else ("cuts_i8", f"few_{code}")
        offsets, a, args = np.load(f"{name}.npy"), np.load(f"{a}.npy"), ["--in", f"{a}.npy", "--in", f"{name}.npy"]
        for end, f in {"argmin": np.argmin, "argmax": np.argmax}.items():
            places = np.array([b + f(a[b:e]) if b < e else 2**32 - 1 for b, e in zip(offsets[:-1], offsets[1:])], np.uint32)
            case(f"segmented_{end}_{code}", [f"segmented-{end}", *args], places)
    case("segmented_argmin_none", ["segmented-argmin", "--in", "w_u4.npy", "--in", "one_u4.npy"], np.zeros(0, np.uint32))
    # Axes, and bits of keys.
    case("transpose_axes", ["transpose", "--axes", "0,2,1", "--in", "x_f4.npy"], np.ascontiguousarray(x.transpose(0, 2, 1)))
    case("transpose_axes_below", ["transpose", "--axes=-1,0,1", "--in", "x_f4.npy"], np.ascontiguousarray(x.transpose(2, 0, 1)))
    case("transpose_axes_same", ["transpose", "--axes", "0,1", "--in", "truth.npy"], x[0] > 0)
    for code in ["u4", "u8", "u1"]:
        a = np.frombuffer(rng.bytes(200 * np.dtype(code).itemsize), code)
        save(f"bits_{code}", a)
        part = ["--bits", "2,5", "--in", f"bits_{code}.npy"]
        order = np.argsort(a >> 2 & 7, kind="stable")
        case(f"sort_bits_{code}", ["sort", *part], a[order])
        case(f"argsort_bits_{code}", ["argsort", *part], order.astype(np.uint32))
        case(f"topk_bits_{code}", ["topk", "-k", "9", *part], a[order[:9]], indices=order[:9].astype(np.uint32))
        case(f"sort_bits_down_{code}", ["sort", "--descending", *part], a[np.argsort(-(a >> 2 & 7).astype(int), kind="stable")])
        case(f"sort_bits_none_{code}", ["sort", "--bits", "3,3", "--in", f"bits_{code}.npy"], a)
        case(f"sorted_bits_{code}", ["is-sorted", *part[:2], "--in", f"want_sort_bits_{code}.npy"], np.array([True]))
    # Lines along any axis, NaN last, and bins for what is outside.
    rng = np.random.default_rng(20261126)
    for code in ["f4", "u1", "i8"]:
        a = rng.integers(0, 90, (4, 6, 5)).astype(code)
        values = np.arange(a.size, dtype=np.uint16).reshape(a.shape)
        save(f"lines_{code}", a), save(f"lines_values_{code}", values)
        for axis in [0, 1]:
            order = np.argsort(a, axis=axis, kind="stable")
            down = np.flip(a.shape[axis] - 1 - np.argsort(np.flip(a, axis), axis=axis, kind="stable"), axis)
            take = lambda of, at: np.take_along_axis(of, at, axis)
            first = np.take(order, range(2), axis)
            along = ["--axis", str(axis - 3), "--in", f"lines_{code}.npy"]
            case(f"sort_axis{axis}_{code}", ["sort", *along], take(a, order))
            case(f"sort_axis{axis}_down_{code}", ["sort", "--descending", *along], take(a, down))
            case(f"argsort_axis{axis}_{code}", ["argsort", *along], order.astype(np.uint32))
            case(f"sort_axis{axis}_by_key_{code}", ["sort", "--by-key", *along, "--in", f"lines_values_{code}.npy"], take(values, order),
                 keys_out=take(a, order))
            case(f"topk_axis{axis}_{code}", ["topk", "-k", "2", *along], take(a, first), indices=first.astype(np.uint32))
            case(f"topk_axis{axis}_by_key_{code}", ["topk", "-k", "2", "--by-key", *along, "--in", f"lines_values_{code}.npy"],
                 take(values, first), keys_out=take(a, first))
            save(f"lines_places{axis}_{code}", first)
            case(f"gather_axis{axis}_{code}", ["gather", *along, "--in", f"lines_places{axis}_{code}.npy"], take(a, first))
    for code in ["f2", "f4", "f8"]:
        a = rng.integers(-20, 20, 150).astype(code)
        a[rng.integers(0, 150, 30)] = np.nan
        a[rng.integers(0, 150, 30)] *= -1
        a += 0  # no zero below zero: NumPy's order has one zero
        save(f"nans_{code}", a)
        order = np.argsort(a, kind="stable")
        of = ["--nan-last", "--in", f"nans_{code}.npy"]
        case(f"argsort_nan_last_{code}", ["argsort", *of], order.astype(np.uint32))
        case(f"topk_nan_last_{code}", ["topk", "-k", "9", *of], a[order[:9]], indices=order[:9].astype(np.uint32))
        numbers = np.sort(a[~np.isnan(a)])
        save(f"nans_sorted_{code}", np.concatenate([numbers, np.full(4, np.nan, code)])), save(f"nans_needles_{code}", a[:40])
        case(f"sorted_nan_last_{code}", ["is-sorted", "--nan-last", "--in", f"nans_sorted_{code}.npy"], np.array([True]))
        found = np.searchsorted(np.concatenate([numbers, np.full(4, np.nan, code)]), a[:40], "right")
        case(f"search_nan_last_{code}", ["search", "--nan-last", "--side", "right", "--in", f"nans_sorted_{code}.npy", "--in",
                                         f"nans_needles_{code}.npy"], found.astype(np.uint32))
    for code, low, high in [("f4", -8.5, 8.25), ("i4", -8, 9), ("u1", 20, 60), ("f2", -3, 5), ("i8", -7.5, 7.5)]:
        a = np.concatenate([rng.integers(0, 80, 400), np.arange(80)]) - (0 if code == "u1" else 40)
        a = a.astype(code)
        save(f"flow_{code}", a)
        inside = np.histogram(a.astype(float), 5, (low, high))[0]
        inside[-1] -= (a.astype(float) == high).sum()  # NumPy's last bin is closed
        counts = np.concatenate([[(a < low).sum()], inside, [(a >= high).sum()]]).astype(np.uint32)
        case(f"histogram_flow_{code}", ["histogram", "--flow", "--bins", "5", f"--range={low},{high}", "--in", f"flow_{code}.npy"], counts)
        edges = np.array([25, 30, 50]).astype(code) if code == "u1" else np.array([-5, 0, 6]).astype(code)
        save(f"flow_edges_{code}", edges)
        sides = np.searchsorted(edges, a, "right")
        case(f"histogram_flow_edges_{code}", ["histogram", "--flow", "--edges", f"flow_edges_{code}.npy", "--in", f"flow_{code}.npy"],
             np.bincount(sides, minlength=4).astype(np.uint32))
