"""The part of make.py about several dimensions: histograms of arrays together and of channels, image layouts, Morton order, segments' pairs."""
import math

import numpy as np


def write(save, case, cuts):
    rng = np.random.default_rng(20261125)
    # Whole numbers and quarters, so that bins of floats are exact; half open, so nothing lies on an upper end.
    x = (rng.integers(-40, 44, (31, 17)) / 4).astype(np.float32)
    y = rng.integers(0, 300, (31, 17)).astype(np.int32)
    z = rng.integers(0, 256, (31, 17)).astype(np.uint8)
    w = rng.integers(-9, 9, (31, 17)).astype(np.float64)
    for name, a in [("joint_f4", x), ("joint_i4", y), ("joint_u1", z), ("joint_f8", w)]:
        save(name, a)

    def counts(arrays, bins, bounds, weights=None):
        inside = np.ones(arrays[0].size, bool)
        for a, b in zip(arrays, bounds):
            inside &= (a.ravel() >= b[0]) & (a.ravel() < b[-1])
        of = [a.ravel()[inside].astype(np.float64) for a in arrays]
        weights = None if weights is None else weights.ravel()[inside]
        return np.histogramdd(np.stack(of, axis=-1), bins, None if bins is bounds else bounds, weights=weights)[0]

    two, three = ["--in", "joint_f4.npy", "--in", "joint_i4.npy"], ["--in", "joint_f4.npy", "--in", "joint_i4.npy", "--in", "joint_u1.npy"]
    even = ["--bins", "16,8", "--range", "-8,8,20,260"]
    case("histogram_two", ["histogram", *two, *even], counts([x, y], (16, 8), [(-8, 8), (20, 260)]).astype(np.uint32))
    sums = counts([x, y], (16, 8), [(-8, 8), (20, 260)], w)
    case("histogram_two_weighted", ["histogram", *two, *even, "--weights", "joint_f8.npy"], sums)
    bins = ["--bins", "4,3,5", "--range", "-8,8,0,300,10,210"]
    case("histogram_three", ["histogram", *three, *bins], counts([x, y, z], (4, 3, 5), [(-8, 8), (0, 300), (10, 210)]).astype(np.uint32))
    edges = [np.array([-8, -2.5, 0, 0.25, 8], np.float32), np.array([5, 7, 200, 299], np.int32)]
    save("edges_joint_f4", edges[0]), save("edges_joint_i4", edges[1])
    of_edges = ["--edges", "edges_joint_f4.npy", "--edges", "edges_joint_i4.npy"]
    case("histogram_two_edges", ["histogram", *two, *of_edges], counts([x, y], edges, edges).astype(np.uint32))
    # Channels: along the last axis, and one after the other; all of them, and the first.
    rgba = rng.integers(0, 256, (13, 11, 4)).astype(np.uint8)
    save("rgba_u1", rgba), save("rgba_line_u1", rgba.ravel())
    each = [np.bincount(rgba[..., k].ravel(), minlength=256) for k in range(4)]
    all_bins = ["--channels", "4", "--bins", "256", "--range", "0,256"]
    case("histogram_channels", ["histogram", "--in", "rgba_u1.npy", *all_bins], np.stack(each).astype(np.uint32))
    case("histogram_channels_line", ["histogram", "--in", "rgba_line_u1.npy", *all_bins], np.stack(each).astype(np.uint32))
    first = ["--channels", "4", "--bins", "64,64,64", "--range", "0,256"]
    case("histogram_channels_first", ["histogram", "--in", "rgba_u1.npy", *first], np.stack([e.reshape(64, 4).sum(1) for e in each[:3]]).astype(np.uint32))
    own = ["--channels", "4", "--bins", "256,16,5", "--range", "0,256,0,64,10,60"]
    line = np.concatenate([each[0], each[1][:64].reshape(16, 4).sum(1), each[2][10:60].reshape(5, 10).sum(1)])
    case("histogram_channels_own", ["histogram", "--in", "rgba_u1.npy", *own], line.astype(np.uint32))
    ranges = [np.array([0, 50, 100, 255], np.uint8), np.array([3, 4, 200, 201], np.uint8)]
    save("edges_red_u1", ranges[0]), save("edges_green_u1", ranges[1])
    between = [[each[k][a:b].sum() for a, b in zip(e[:-1], e[1:])] for k, e in enumerate(ranges)]
    of_ranges = ["--channels", "4", "--edges", "edges_red_u1.npy", "--edges", "edges_green_u1.npy"]
    case("histogram_channels_edges", ["histogram", "--in", "rgba_u1.npy", *of_ranges], np.array(between, np.uint32))
    pixels = (rng.integers(-40, 44, (50, 6)) / 4).astype(np.float64)
    save("pixels_f8", pixels)
    found = [np.histogram(p[p < 8], 8, (-8, 8))[0] for p in pixels[:, :2].T]
    case("histogram_channels_f8", ["histogram", "--in", "pixels_f8.npy", "--channels", "6", "--bins", "8,8", "--range", "-8,8"], np.stack(found).astype(np.uint32))
    # A weight to a pixel, of the whole image and of its pixels in one line; sums of floats are the exact ones, rounded once.
    more = np.random.default_rng(20261126)
    for code in ["i4", "u2", "f4", "f8"]:
        w = more.normal(size=(13, 11)) * 10.0 ** more.integers(-30, 9, (13, 11))
        w = w.astype(code) if code[0] == "f" else np.frombuffer(more.bytes(13 * 11 * np.dtype(code).itemsize), code).reshape(13, 11)
        save(f"pixel_weights_{code}", w)
        for active, bins in [(4, 16), (3, 64)]:
            place = rgba[..., :active] // (256 // bins)
            if code[0] == "f":
                found = [[math.fsum(w[place[..., k] == b]) for b in range(bins)] for k in range(active)]
            else:
                found = [[int(w[place[..., k] == b].astype(np.int64).sum()) for b in range(bins)] for k in range(active)]
            found = np.array(found).astype({"u2": "u4"}.get(code, code))
            of = ["--bins", ",".join([str(bins)] * (1 if active == 4 else active)), "--range", "0,256", "--weights", f"pixel_weights_{code}.npy"]
            source = "rgba_u1.npy" if active == 4 else "rgba_line_u1.npy"
            case(f"histogram_channels_weighted_{active}_{code}", ["histogram", "--in", source, "--channels", "4", *of], found)
    # Layouts.
    layouts = ["nchw", "nhwc", "chwn"]
    for code in ["u1", "f2", "f4", "f8"]:
        image = np.frombuffer(rng.bytes(2 * 3 * 5 * 4 * np.dtype(code).itemsize), code).reshape(2, 3, 5, 4)
        save(f"batch_{code}", image)
        for k, a in enumerate(layouts):
            b = layouts[(k + 1) % 3]
            order = [a.index(axis) for axis in b]
            moved = np.ascontiguousarray(image.transpose(order))
            case(f"layout_{a}_{b}_{code}", ["layout", "--from", a, "--to", b, "--in", f"batch_{code}.npy"], moved)
    # Morton order: bits of the last axis lowest, in turn while an axis has any left.
    for code, shape in [("u1", (8,)), ("f4", (4, 16)), ("f2", (8, 8)), ("i8", (2, 8, 4))]:
        a = np.frombuffer(rng.bytes(int(np.prod(shape)) * np.dtype(code).itemsize), code).reshape(shape)
        order = np.zeros(a.size, int)
        for i, place in enumerate(np.ndindex(shape)):
            taken, code_of = 0, 0
            for level in range(8):
                for axis in reversed(range(len(shape))):
                    if 1 << level < shape[axis]:
                        code_of |= (place[axis] >> level & 1) << taken
                        taken += 1
            order[code_of] = i
        save(f"grid_{code}", a), save(f"curve_{code}", a.ravel()[order])
        case(f"to_morton_{code}", ["to-morton", "--in", f"grid_{code}.npy"], a.ravel()[order])
        case(f"from_morton_{code}", ["from-morton", "--shape", ",".join(map(str, shape)), "--in", f"curve_{code}.npy"], a)
    # Values with keys, in every segment; what is in none stays.
    offsets = {"i8": cuts}
    for t, (code, of) in enumerate([("f4", "u1"), ("u1", "f2"), ("i8", "i4"), ("f2", "f8")]):
        keys, values = rng.integers(0, 7, 300).astype(code), np.frombuffer(rng.bytes(300 * np.dtype(of).itemsize), of)
        save(f"part_{code}", keys), save(f"part_load_{of}", values)
        for descending in [False, True]:
            order = np.arange(300)
            for a, b in zip(offsets["i8"][:-1], offsets["i8"][1:]):
                part = keys[a:b].astype(np.float64)
                order[a:b] = a + np.argsort(-part if descending else part, kind="stable")
            args = ["segmented-sort", "--by-key", "--in", f"part_{code}.npy", "--in", f"part_load_{of}.npy", "--in", "cuts_i8.npy"]
            name = f"segmented_sort_by_key_{'down_' if descending else ''}{code}_{of}"
            case(name, args + ["--descending"] * descending, values[order], keys_out=keys[order])
    # Indices of 8 and 16 bits.
    line = rng.integers(0, 1000, 100).astype(np.float32)
    save("line_f4", line)
    for code in ["u1", "i1", "u2", "i2"]:
        at = rng.integers(0, 100, 40).astype(code)
        save(f"at_{code}", at)
        case(f"gather_by_{code}", ["gather", "--in", "line_f4.npy", "--in", f"at_{code}.npy"], line[at])
        stored, summed = line.copy(), line.copy()
        stored[at] = line[:40]
        np.add.at(summed, at, line[:40])
        save("part_f4_40", line[:40])
        to = ["--in", "part_f4_40.npy", "--in", f"at_{code}.npy", "--in", "line_f4.npy"]
        case(f"scatter_by_{code}", ["scatter", *to], stored)
        case(f"scatter_sum_by_{code}", ["scatter", "--op", "sum", *to], summed)
    # Operators of one's own, in the order of the indices.
    for code in ["i4", "u8", "u1", "i2"]:
        at, to = rng.integers(0, 60, 400).astype("u2"), rng.integers(1, 9, 60).astype(code)
        v = rng.integers(0, 250 if code == "u1" else 30_000, 400).astype(code)
        save(f"own_{code}", v), save(f"own_at_{code}", at), save(f"own_to_{code}", to)
        three = ["scatter", "--in", f"own_{code}.npy", "--in", f"own_at_{code}.npy", "--in", f"own_to_{code}.npy"]
        product, first, middle = to.copy(), to.copy(), to.copy()
        np.multiply.at(product, at, v)
        for k, x in zip(at, v):
            # The upper bits of the first and the lower ones of the last.
            middle[k] = (middle[k] & 0x70) | (x & 0x0F)
        case(f"scatter_product_{code}", [*three, "--op", "product"], product)
        case(f"scatter_first_{code}", [*three, "--op", "x"], first)
        case(f"scatter_own_{code}", [*three, "--op", "(x & 0x70) | (y & 0x0f)"], middle)
    far = rng.normal(size=400).astype(np.float32)
    save("own_f4", far)
    greatest = np.zeros(70, np.float32)
    save("own_to_f4", greatest)
    at, greatest = np.load("own_at_i4.npy"), greatest.copy()
    for k, x in zip(at, far):
        greatest[k] = greatest[k] if abs(greatest[k]) > abs(x) else x
    three = ["scatter", "--in", "own_f4.npy", "--in", "own_at_i4.npy", "--in", "own_to_f4.npy"]
    case("scatter_own_f4", [*three, "--op", "abs(x) > abs(y) ? x : y"], greatest)
    # Fixed-point sums; the sums of all do not fit 32 bits.
    at = rng.integers(0, 60, 4000).astype("u4")
    v = np.round(rng.normal(size=4000) * 400, 3).astype(np.float32)
    save("fixed_f4", v), save("fixed_at_u4", at)
    for code in ["i4", "i8"]:
        info = np.iinfo(code)
        to = rng.integers(info.min, info.max, 60, code)
        save(f"fixed_to_{code}", to)
        three = ["scatter", "--in", "fixed_f4.npy", "--in", "fixed_at_u4.npy", "--in", f"fixed_to_{code}.npy"]
        digits = {"i4": 20, "i8": 51}[code]
        # A product with a power of two is exact; integers of Python have all the bits that a sum needs.
        terms = [min(max(int(t), info.min), info.max) for t in np.rint(v.astype(np.float64) * 2.0**digits)]
        sums = [int(t) for t in to]
        for k, term in zip(at, terms):
            sums[k] += term
        wrapped = [(s - info.min) % (1 << info.bits) + info.min for s in sums]
        nearest = [min(max(s, info.min), info.max) for s in sums]
        case(f"scatter_fixed_{code}", [*three, "--digits", str(digits)], np.array(wrapped, code))
        case(f"scatter_fixed_saturated_{code}", [*three, "--op", "sum", "--digits", str(digits), "--saturate"], np.array(nearest, code))
        assert code == "i8" or (wrapped != nearest and any(info.min < s < info.max for s in sums))
