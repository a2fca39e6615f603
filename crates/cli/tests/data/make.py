#!/usr/bin/env python3
"""Writes the inputs of the command's tests, and what NumPy makes of them (tested with NumPy 2.4).

`archive.py` runs it. `oracle.json` lists the cases: arguments after `isowarp run`, the file that the result must equal, and the relative
tolerance (0: bit for bit; NumPy computes the reference of a tolerance in f64).
"""
import json
import math

import numpy as np

import pairs
import questions
import shapes

rng = np.random.default_rng(20240607)
cases = []


def save(name, array):
    np.save(f"{name}.npy", array)
    return f"{name}.npy"


def case(name, args, expected, tolerance=0.0):
    cases.append({"name": name, "args": args, "expected": save(f"want_{name}", expected), "tolerance": tolerance})


wanted = {}


def shared_case(name, args, expected, **beside):
    """`beside`: options that take a file, and the array that it must equal. Equal arrays have one file."""
    of = lambda array: (array.dtype.str, array.shape, array.tobytes())
    found = {"name": name, "args": args, "tolerance": 0.0}
    for key, array in {"expected": np.asarray(expected), **beside}.items():
        place = found if key == "expected" else found.setdefault("beside", {})
        suffix = "" if key == "expected" else f"_{key}"
        if of(array) not in wanted:
            wanted[of(array)] = save(f"want_{name}{suffix}", array)
        place[key if key == "expected" else f"--{key.replace('_', '-')}"] = wanted[of(array)]
    cases.append(found)


# Whole values in floats, so that sums are exact in any order.
x = rng.integers(-50, 50, (5, 7, 3)).astype(np.float32)
y = rng.integers(-50, 50, (5, 7, 3)).astype(np.float32)
r = rng.normal(size=1000).astype(np.float32)
s = rng.uniform(0.1, 4.0, size=1000).astype(np.float32)
save("x_f4", x), save("y_f4", y), save("r_f4", r), save("s_f4", s)
whole = {code: rng.integers(0, 200, 300).astype(code) for code in ["f8", "i4", "u4", "i8", "u8", "u1"]}
whole["f2"] = rng.integers(-9, 9, 60).astype("f2")
for code, a in whole.items():
    save(f"w_{code}", a)
save("truth", x[0] > 0)
save("empty", np.zeros(0, np.float32))
save("scalar", np.float32(2.5))

r64, s64 = r.astype(np.float64), s.astype(np.float64)
index = np.arange(x.size, dtype=np.uint32).reshape(x.shape)
case("map_affine", ["map", "--in", "x_f4.npy", "--op", "2*x + 1"], 2 * x + 1)
case("map_index", ["map", "--in", "x_f4.npy", "--op", "x + i"], x + index.astype(np.float32))
case("map_exp", ["map", "--in", "r_f4.npy", "--op", "exp(-x*x) + 0.5*x"], (np.exp(-r64 * r64) + 0.5 * r64).astype(np.float32), 1e-6)
case("map_name", ["map", "--in", "s_f4.npy", "--op", "sqrt"], np.sqrt(s))
case("map_log", ["map", "--in", "s_f4.npy", "--op", "ln(x)"], np.log(s64).astype(np.float32), 1e-6)
case("map_minus", ["map", "--in", "x_f4.npy", "--op", "-x"], -x)
case("map_select", ["map", "--in", "x_f4.npy", "--op", "x > 0 ? x : 0"], np.maximum(x, 0))
case("map_truth", ["map", "--in", "x_f4.npy", "--op", "x > 3 && x <= 20"], (x > 3) & (x <= 20))
case("map_dtype", ["map", "--in", "x_f4.npy", "--op", "x / 4", "--dtype", "i32"], (x / 4).astype(np.int32))
case("map_wraps", ["map", "--in", "w_i4.npy", "--op", "x * 123456789"], (whole["i4"].astype(np.int64) * 123456789).astype(np.int32))
case("map_bits", ["map", "--in", "w_u4.npy", "--op", "(x << 3 | x >> 2) ^ 0xff"], ((whole["u4"] << 3) | (whole["u4"] >> 2)) ^ np.uint32(0xFF))
case("map_narrow", ["map", "--in", "w_u1.npy", "--op", "x * 3"], (whole["u1"] * np.uint8(3)).astype(np.uint8))
case("map_half", ["map", "--in", "w_f2.npy", "--op", "x / 2"], whole["f2"] / np.float16(2))
case("map_f8", ["map", "--in", "w_f8.npy", "--op", "x * 0.1"], whole["f8"] * 0.1)
case("map_u8", ["map", "--in", "w_u8.npy", "--op", "x * x % 1000"], whole["u8"] ** 2 % np.uint64(1000))
case("map_scalar", ["map", "--in", "scalar.npy", "--op", "x * 2"], np.float32(5))
case("map_empty", ["map", "--in", "empty.npy", "--op", "x * 2"], np.zeros(0, np.float32))
case("zip_two", ["zip", "--in", "x_f4.npy", "--in", "y_f4.npy", "--op", "x*y - y"], x * y - y)
case("zip_name", ["zip", "--in", "x_f4.npy", "--in", "y_f4.npy", "--op", "max"], np.maximum(x, y))
case("zip_four", ["zip"] + ["--in", "x_f4.npy", "--in", "y_f4.npy"] * 2 + ["--op", "x + 2*y + 4*z + 8*w"], 5 * x + 10 * y)
case("generate_n", ["generate", "--n", "10", "--dtype", "f32", "--op", "i*0.5"], np.arange(10, dtype=np.float32) * np.float32(0.5))
case("generate_shape", ["generate", "--shape", "3,4", "--dtype", "u8", "--op", "i*i"], (np.arange(12) ** 2 % 256).astype(np.uint8).reshape(3, 4))
case("generate_one", ["generate", "--n", "4", "--dtype", "f64", "--op", "1"], np.ones(4))
case("generate_none", ["generate", "--n", "0", "--dtype", "i64", "--op", "i"], np.zeros(0, np.int64))

one = lambda v, dtype: np.array([v]).astype(dtype)
# NumPy's own type of sums and products.
sums_of = lambda a: np.sum(a[:0]).dtype
case("reduce_sum", ["reduce", "--in", "x_f4.npy"], one(x.sum(), np.float32))
for op, f in [("sum", np.sum), ("product", np.prod), ("min", np.min), ("max", np.max)]:
    for code in ["i4", "u4", "i8", "u8", "u1"]:
        a = whole[code]
        case(f"reduce_{op}_{code}", ["reduce", "--in", f"w_{code}.npy", "--op", op], one(f(a), f(a).dtype))
case("reduce_sum_f8", ["reduce", "--in", "w_f8.npy", "--op", "sum"], one(whole["f8"].sum(), np.float64))
case("reduce_max_f2", ["reduce", "--in", "w_f2.npy", "--op", "max"], one(whole["f2"].max(), np.float16))
case("reduce_xor", ["reduce", "--in", "w_u4.npy", "--op", "xor"], one(np.bitwise_xor.reduce(whole["u4"]), np.uint32))
case("reduce_and", ["reduce", "--in", "w_i8.npy", "--op", "and"], one(np.bitwise_and.reduce(whole["i8"]), np.int64))
case("reduce_or", ["reduce", "--in", "w_i4.npy", "--op", "or"], one(np.bitwise_or.reduce(whole["i4"]), np.int32))
case("reduce_count", ["reduce", "--in", "x_f4.npy", "--op", "count"], one(np.count_nonzero(x), np.uint32))
case("reduce_any", ["reduce", "--in", "truth.npy", "--op", "any"], np.array([True]))
case("reduce_all", ["reduce", "--in", "truth.npy", "--op", "all"], np.array([bool((x[0] > 0).all())]))
case("reduce_axis0", ["reduce", "--in", "x_f4.npy", "--axis", "0"], x.sum(axis=0))
case("reduce_axis1", ["reduce", "--in", "x_f4.npy", "--axis", "1", "--op", "min"], x.min(axis=1))
case("reduce_axis2", ["reduce", "--in", "x_f4.npy", "--axis", "-1", "--op", "max"], x.max(axis=2))
case("reduce_axis_count", ["reduce", "--in", "x_f4.npy", "--axis", "0", "--op", "count"], np.count_nonzero(x, axis=0).astype(np.uint32))
case("reduce_custom", ["reduce", "--in", "x_f4.npy", "--op", "max(x, y)"], one(x.max(), np.float32))
case("reduce_nothing", ["reduce", "--in", "empty.npy"], one(0, np.float32))
case("reduce_nothing_custom", ["reduce", "--in", "empty.npy", "--op", "x * y", "--identity", "1"], one(1, np.float32))
case("argmin", ["argmin", "--in", "x_f4.npy"], one(np.argmin(x), np.uint32))
case("argmax", ["argmax", "--in", "w_u1.npy"], one(np.argmax(whole["u1"]), np.uint32))
case("argmax_f2", ["argmax", "--in", "w_f2.npy"], one(np.argmax(whole["f2"]), np.uint32))
case("dot", ["dot", "--in", "x_f4.npy", "--in", "y_f4.npy"], one((x * y).sum(), np.float32))
case("dot_i8", ["dot", "--in", "w_i8.npy", "--in", "w_i8.npy"], one((whole["i8"] ** 2).sum(), np.int64))
case("norm_1", ["norm", "--in", "x_f4.npy", "--ord", "1"], one(np.abs(x).sum(), np.float32))
case("norm_2", ["norm", "--in", "r_f4.npy"], one(np.sqrt((r64**2).sum()), np.float32), 1e-6)
case("norm_inf", ["norm", "--in", "w_f2.npy", "--ord", "inf"], one(np.abs(whole["f2"]).max(), np.float16))
case("mean", ["mean", "--in", "w_f8.npy"], one(whole["f8"].sum() / 300, np.float64))
case("scan", ["scan", "--in", "x_f4.npy"], np.cumsum(x, dtype=np.float32))
case("scan_exclusive", ["scan", "--in", "w_i4.npy", "--exclusive"], np.concatenate([[0], np.cumsum(whole["i4"])[:-1]]))
case("scan_u1", ["scan", "--in", "w_u1.npy"], np.cumsum(whole["u1"]))
case("scan_max", ["scan", "--in", "x_f4.npy", "--op", "max", "--axis", "1"], np.maximum.accumulate(x, axis=1))
case("scan_axis", ["scan", "--in", "x_f4.npy", "--axis", "0"], np.cumsum(x, axis=0, dtype=np.float32))
case("scan_product", ["scan", "--in", "w_u4.npy", "--op", "product"], np.cumprod(whole["u4"]))
case("scan_custom", ["scan", "--in", "w_u4.npy", "--op", "x ^ y", "--exclusive", "--identity", "0"],
     np.concatenate([[0], np.bitwise_xor.accumulate(whole["u4"])[:-1]]).astype(np.uint32))
case("scan_empty", ["scan", "--in", "empty.npy"], np.zeros(0, np.float32))

# What has to be refused.
save("fortran", np.asfortranarray(x[0]))
save("big_endian", x.astype(">f4"))
save("objects", np.array([1, None], dtype=object))
save("records", np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")]))
save("complex", x.astype(np.complex64))
save("short", np.zeros(4, np.float32))
for version in [(2, 0), (3, 0)]:
    with open(f"version_{version[0]}.npy", "wb") as f:
        np.lib.format.write_array(f, x, version=version)

# Sorts: along the last axis, stable. No -0 and no NaN with a sign, which NumPy orders otherwise.
few = {code: (a % 7).astype(a.dtype) for code, a in whole.items()}
for code, a in few.items():
    save(f"few_{code}", a)
    case(f"sort_{code}", ["sort", "--in", f"w_{code}.npy"], np.sort(whole[code], kind="stable"))
    case(f"sort_down_{code}", ["sort", "--descending", "--in", f"w_{code}.npy"], np.sort(whole[code], kind="stable")[::-1].copy())
    case(f"argsort_{code}", ["argsort", "--in", f"few_{code}.npy"], np.argsort(a, kind="stable").astype(np.uint32))
    # Descending and stable: the reverse of the reversed array's order.
    down = (a.size - 1 - np.argsort(a[::-1], kind="stable"))[::-1].astype(np.uint32)
    case(f"argsort_down_{code}", ["argsort", "--descending", "--in", f"few_{code}.npy"], down)
    for name, order, options in [("topk", np.argsort(a, kind="stable"), []), ("topk_down", down, ["--descending"])]:
        case(f"{name}_{code}", ["topk", "-k", "20", *options, "--in", f"few_{code}.npy"], a[order[:20]])
        save(f"places_{name}_{code}", order[:20].astype(np.uint32))
case("topk_rows", ["topk", "-k", "5", "--descending", "--in", "x_f4.npy"], np.sort(x.ravel(), kind="stable")[::-1][:5].copy())
by_rows = ["topk", "-k", "2", "--axis", "-1", "--descending"]
falling = (x.shape[-1] - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable"))[..., ::-1][..., :2]
case("topk_axis", [*by_rows, "--in", "x_f4.npy"], np.take_along_axis(x, falling, axis=-1))
save("places_topk_axis", falling.astype(np.uint32))
case("topk_axis_of_one", ["topk", "-k", "20", "--axis", "0", "--in", "w_u1.npy"], np.sort(whole["u1"])[:20])
case("topk_axis_truth", ["topk", "-k", "2", "--axis", "1", "--in", "truth.npy"], np.sort(x[0] > 0, axis=-1)[:, :2].copy())
case("topk_truth", ["topk", "-k", "3", "--in", "truth.npy"], np.sort((x[0] > 0).ravel())[:3])
case("topk_none", ["topk", "-k", "0", "--in", "x_f4.npy"], np.zeros(0, np.float32))
case("topk_empty", ["topk", "-k", "0", "--in", "empty.npy"], np.zeros(0, np.float32))
case("sort_rows", ["sort", "--in", "x_f4.npy"], np.sort(x, axis=-1, kind="stable"))
case("argsort_rows", ["argsort", "--in", "y_f4.npy"], np.argsort(y, axis=-1, kind="stable").astype(np.uint32))
case("sort_truth", ["sort", "--in", "truth.npy"], np.sort(x[0] > 0, axis=-1))
case("sort_empty", ["sort", "--in", "empty.npy"], np.zeros(0, np.float32))
by_size = ["--op", "abs(x) > abs(y)", "--in", "r_f4.npy"]
case("sort_by", ["sort", *by_size], r[np.argsort(-np.abs(r), kind="stable")])
case("argsort_by", ["argsort", *by_size], np.argsort(-np.abs(r), kind="stable").astype(np.uint32))
by_rest = ["--op", "x % 7 < y % 7", "--in", "w_i4.npy"]
rest = np.argsort(whole["i4"] % 7, kind="stable")
case("sort_by_rest", ["sort", *by_rest], whole["i4"][rest])
case("argsort_by_rest", ["argsort", *by_rest], rest.astype(np.uint32))
case("argsort_of_normal", ["argsort", "--in", "r_f4.npy"], np.argsort(r, kind="stable").astype(np.uint32))

# Moves. Indices have a shape of their own; of several with one target the last stays.
at = rng.integers(0, 60, (6, 50))
for code in ["u4", "i4", "u8", "i8"]:
    save(f"at_{code}", at.astype(code))
    case(f"gather_{code}", ["gather", "--in", "x_f4.npy", "--in", f"at_{code}.npy"], np.take(x, at))
for code, a in whole.items():
    case(f"gather_from_{code}", ["gather", "--in", f"w_{code}.npy", "--in", "at_i8.npy"], np.take(a, at))
    target = a[:60].copy()
    target[at.ravel()] = a if a.size == at.size else np.resize(a, at.size)
    save(f"head_{code}", a[:60]), save(f"long_{code}", np.resize(a, at.size))
    case(f"scatter_{code}", ["scatter", "--in", f"long_{code}.npy", "--in", "at_u4.npy", "--in", f"head_{code}.npy"], target)
save("far_i4", np.array([3, 300, 1], np.int32)), save("below_i8", np.array([3, -1], np.int64))
case("gather_truth", ["gather", "--in", "truth.npy", "--in", "few_u8.npy"], np.take(x[0] > 0, few["u8"]))
combine = {"sum": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
for code in ["u4", "i4", "u8", "i8"]:
    for op, f in combine.items():
        target = whole[code][:60].copy()
        f.at(target, at.ravel(), whole[code])
        case(f"scatter_{op}_{code}", ["scatter", "--op", op, "--in", f"long_{code}.npy", "--in", "at_i4.npy", "--in", f"head_{code}.npy"], target)
case("transpose", ["transpose", "--in", "x_f4.npy"], np.ascontiguousarray(x.T))
case("transpose_truth", ["transpose", "--in", "truth.npy"], np.ascontiguousarray((x[0] > 0).T))
case("transpose_line", ["transpose", "--in", "w_u1.npy"], whole["u1"])
for code, a in whole.items():
    case(f"reverse_{code}", ["reverse", "--in", f"w_{code}.npy"], np.flip(a))
    case(f"rotate_{code}", ["rotate", "--by", "7", "--in", f"w_{code}.npy"], np.roll(a, 7))
case("reverse_shape", ["reverse", "--in", "x_f4.npy"], np.flip(x))
case("rotate_shape", ["rotate", "--by", "-1000", "--in", "x_f4.npy"], np.roll(x, -1000))
case("reverse_empty", ["reverse", "--in", "empty.npy"], np.zeros(0, np.float32))
case("rotate_empty", ["rotate", "--by", "3", "--in", "empty.npy"], np.zeros(0, np.float32))

# Selections: of the array as one line.
flat = x.ravel()
case("select", ["select", "--in", "x_f4.npy", "--op", "x > 3 && x <= 20"], flat[(flat > 3) & (flat <= 20)])
case("select_index", ["select", "--in", "w_i8.npy", "--op", "i % 3 == 1"], whole["i8"][1::3])
case("select_none", ["select", "--in", "x_f4.npy", "--op", "x > 1000"], np.zeros(0, np.float32))
case("select_all", ["select", "--in", "w_f8.npy", "--op", "x == x"], whole["f8"])
case("select_truth", ["select", "--in", "truth.npy", "--op", "i < 5"], (flat[:21] > 0)[:5])
case("select_empty", ["select", "--in", "empty.npy", "--op", "x > 0"], np.zeros(0, np.float32))
case("partition_empty", ["partition", "--in", "empty.npy", "--op", "x > 0"], np.zeros(0, np.float32))
case("unique_empty", ["unique", "--in", "empty.npy"], np.zeros(0, np.float32))
for code, a in whole.items():
    keep = a > a.dtype.type(5)
    case(f"select_{code}", ["select", "--in", f"w_{code}.npy", "--op", "x > 5"], a[keep])
    case(f"partition_{code}", ["partition", "--in", f"w_{code}.npy", "--op", "x > 5"], np.concatenate([a[keep], a[~keep]]))
    b = np.sort(few[code], kind="stable")
    b[::11] = 3
    save(f"runs_{code}", b)
    starts = np.flatnonzero(np.concatenate([[True], b[1:] != b[:-1]]))
    case(f"unique_{code}", ["unique", "--in", f"runs_{code}.npy"], b[starts])
    case(f"rle_{code}", ["rle", "--in", f"runs_{code}.npy"], b[starts])
    save(f"lengths_{code}", np.diff(np.append(starts, b.size)).astype(np.uint32))

# Histograms: half open, so what lies on the upper end is left out of NumPy's closed last bin. Sums of floats are the exact ones, rounded once.
def counts(a, bins, bounds, weights=None):
    below = a < bounds[-1]
    return np.histogram(a[below].astype(np.float64), bins, bounds if np.ndim(bins) == 0 else None, weights=None if weights is None else weights[below])[0]


for code, a in whole.items():
    few_bins, low, high = (5, -4, 6) if code == "f2" else (7, 10, 150)
    even = ["--bins", str(few_bins), "--range", f"{low},{high}"]
    case(f"histogram_{code}", ["histogram", "--in", f"w_{code}.npy"] + even, counts(a, few_bins, (low, high)).astype(np.uint32))
    edges = np.array([-5, -1, 0, 0, 1, 8] if code == "f2" else [0, 1, 5, 50, 50, 51, 150], a.dtype)
    save(f"edges_{code}", edges)
    of_edges = counts(a, edges.astype(np.float64), edges).astype(np.uint32)
    case(f"histogram_edges_{code}", ["histogram", "--in", f"w_{code}.npy", "--edges", f"edges_{code}.npy"], of_edges)
for code in ["u4", "i4", "u8", "i8"]:
    args = ["histogram", "--in", "w_f8.npy", "--weights", f"w_{code}.npy", "--bins", "9", "--range", "0,180"]
    case(f"histogram_weighted_{code}", args, counts(whole["f8"], 9, (0, 180), whole[code]).astype(code))
place = np.digitize(s, [0.25, 0.75, 1.5, 3.0]) - 1
exact = np.array([math.fsum(r64[place == k]) for k in range(3)]).astype(np.float32)
save("edges_f4", np.array([0.25, 0.75, 1.5, 3.0], np.float32))
case("histogram_weighted_f4", ["histogram", "--in", "s_f4.npy", "--weights", "r_f4.npy", "--edges", "edges_f4.npy"], exact)
wild = r64 / 3 * 10.0 ** (np.arange(r.size) % 7 * 40 - 120)
save("wild", wild)
exact = np.array([math.fsum(wild[place == k]) for k in range(3)])
case("histogram_weighted_f8", ["histogram", "--in", "s_f4.npy", "--weights", "wild.npy", "--edges", "edges_f4.npy"], exact)
case("histogram_f4", ["histogram", "--in", "r_f4.npy", "--bins", "40", "--range", "-2,3"], counts(r, 40, (-2, 3)).astype(np.uint32))
case("histogram_many", ["histogram", "--in", "w_u1.npy", "--bins", "5000", "--range", "0,5000"], np.bincount(whole["u1"], minlength=5000).astype(np.uint32))
case("histogram_truth", ["histogram", "--in", "truth.npy", "--bins", "2", "--range", "0,2"], np.bincount((x[0] > 0).ravel(), minlength=2).astype(np.uint32))
case("histogram_empty", ["histogram", "--in", "empty.npy", "--bins", "3", "--range", "0,1"], np.zeros(3, np.uint32))
# Sorted arrays: merges, searches, and multisets by counting.
for code, a in few.items():
    b = np.sort(np.concatenate([a[::3], a[:5] + a.dtype.type(2)]), kind="stable")
    a = np.sort(a[::2], kind="stable")
    save(f"sorted_{code}", a), save(f"other_{code}", b)
    up = ["--in", f"sorted_{code}.npy", "--in", f"other_{code}.npy"]
    case(f"merge_{code}", ["merge", *up], np.sort(np.concatenate([a, b]), kind="stable"))
    case(f"search_{code}", ["search", *up], np.searchsorted(a, b).astype(np.uint32))
    case(f"search_right_{code}", ["search", "--side", "right", *up], np.searchsorted(a, b, side="right").astype(np.uint32))
    values = np.unique(np.concatenate([a, b]))
    x_times, y_times = np.array([(a == v).sum() for v in values]), np.array([(b == v).sum() for v in values])
    case(f"union_{code}", ["union", *up], np.repeat(values, np.maximum(x_times, y_times)))
    case(f"intersection_{code}", ["intersection", *up], np.repeat(values, np.minimum(x_times, y_times)))
    case(f"difference_{code}", ["difference", *up], np.repeat(values, np.maximum(x_times - y_times, 0)))
save("falling_r", np.sort(r)[::-1].copy()), save("falling_s", np.sort(s)[::-1].copy())
falling = ["--descending", "--in", "falling_r.npy", "--in", "falling_s.npy"]
case("merge_down", ["merge", *falling], np.sort(np.concatenate([r, s]))[::-1].copy())
case("merge_by", ["merge", "--op", "x > y", *falling[1:]], np.sort(np.concatenate([r, s]))[::-1].copy())
# Merging is a stable sort of one array behind the other.
by_bits = [f"sorted_by_{k}.npy" for k in "ab"]
a, b = (np.random.default_rng(k).integers(-99, 99, 200 + k).astype(np.int32) for k in [31, 32])
a, b = (v[np.argsort(v & 15, kind="stable")] for v in (a, b))
save("sorted_by_a", a), save("sorted_by_b", b)
both = np.concatenate([a, b])
case("merge_by_bits", ["merge", "--op", "(x & 15) < (y & 15)", "--in", by_bits[0], "--in", by_bits[1]], both[np.argsort(both & 15, kind="stable")])
case("search_down", ["search", *falling], (r.size - np.searchsorted(np.sort(r), np.sort(s)[::-1], side="right")).astype(np.uint32))
case("search_shape", ["search", "--in", "rising_r.npy", "--in", "x_f4.npy", "--side", "left"], np.searchsorted(np.sort(r), x).astype(np.uint32))
save("rising_r", np.sort(r))
case("merge_empty", ["merge", "--in", "empty.npy", "--in", "rising_r.npy"], np.sort(r))
case("search_empty", ["search", "--in", "rising_r.npy", "--in", "empty.npy"], np.zeros(0, np.uint32))
case("union_empty", ["union", "--in", "rising_r.npy", "--in", "empty.npy"], np.sort(r))
case("intersection_empty", ["intersection", "--in", "empty.npy", "--in", "empty.npy"], np.zeros(0, np.float32))
case("merge_truth", ["merge", "--in", "rising_truth.npy", "--in", "rising_truth.npy"], np.sort(np.tile(x.ravel() > 0, 2)))
save("rising_truth", np.sort(x.ravel() > 0))

# Floats scattered: sums are the exact ones, rounded once. Minima of whole numbers, one of them NaN.
to = np.random.default_rng(26).integers(0, 50, r.size)
save("to_u4", to.astype(np.uint32)), save("head_s", s[:50])
sums = np.array([math.fsum([s[t], *r64[to == t]]) for t in range(50)]).astype(np.float32)
into = ["--in", "to_u4.npy", "--in", "head_s.npy"]
case("scatter_sum_f4", ["scatter", "--op", "sum", "--in", "r_f4.npy", *into], sums)
for op, f in {"min": np.minimum, "max": np.maximum}.items():
    for code in ["f4", "f8"]:
        low, values = s[:50].astype(code), r.astype(code)
        save(f"head_s_{code}", low), save(f"normal_{code}", values)
        target = low.copy()
        f.at(target, to, values)
        args = ["--in", f"normal_{code}.npy", "--in", "to_u4.npy", "--in", f"head_s_{code}.npy"]
        case(f"scatter_{op}_{code}", ["scatter", "--op", op, *args], target)
sums = np.array([math.fsum([s64[t], *wild[to == t]]) for t in range(50)])
case("scatter_sum_f8", ["scatter", "--op", "sum", "--in", "wild.npy", "--in", "to_u4.npy", "--in", "head_s_f8.npy"], sums)
for code in ["u4", "i4", "u8", "i8"]:
    target = whole[code][:60].copy()
    np.subtract.at(target, at.ravel(), whole[code])
    case(f"scatter_sub_{code}", ["scatter", "--op", "sub", "--in", f"long_{code}.npy", "--in", "at_i4.npy", "--in", f"head_{code}.npy"], target)


# Groups: bits, least first; the first of equal elements, and how many there are. Tickets are groups of the whole array.
def ballot(holds, width):
    groups = [holds[k : k + width] for k in range(0, holds.size, width)]
    room = -(-min(width, holds.size) // 32) * 4
    words = [np.packbits(g, bitorder="little").tobytes().ljust(room, b"\0") for g in groups]
    return np.frombuffer(b"".join(words), np.uint32)


def peers(a, width):
    first, ticket, count = [], [], []
    for k in range(0, a.size, width):
        g = a[k : k + width]
        _, starts, inverse, counts = np.unique(g, return_index=True, return_inverse=True, return_counts=True)
        first.append(starts[inverse]), count.append(counts[inverse])
        ticket.append([np.count_nonzero(g[:j] == g[j]) for j in range(g.size)])
    return [np.concatenate(v).astype(np.uint32) for v in (first, ticket, count)]


for width in [1, 20, 32, 33, 64, 300]:
    case(f"ballot_{width}", ["ballot", "--op", "x > 3", "--width", str(width), "--in", "w_f8.npy"], ballot(whole["f8"] > 3, width))
case("ballot_index", ["ballot", "--op", "i % 3 == 0", "--width", "32", "--in", "w_u1.npy"], ballot(np.arange(whole["u1"].size) % 3 == 0, 32))
case("ballot_empty", ["ballot", "--op", "x > 0", "--width", "32", "--in", "empty.npy"], np.zeros(0, np.uint32))
for code, a in few.items():
    for width in [10, 32, 70]:
        first, _, count = peers(a, width)
        case(f"match_{width}_{code}", ["match", "--width", str(width), "--in", f"few_{code}.npy"], first)
        save(f"lengths_match_{width}_{code}", count)
    _, ticket, count = peers(a, a.size)
    case(f"tickets_{code}", ["tickets", "--in", f"few_{code}.npy"], ticket)
    save(f"lengths_tickets_{code}", count)
# Segments, runs of keys and neighbours. Sums of floats are of whole values, so exact in any order.
cuts = np.sort(rng.integers(0, 300, 40))
cuts = np.concatenate([[0], cuts, cuts[-1:], [300]])
for code in ["u4", "i4", "u8", "i8"]:
    save(f"cuts_{code}", cuts.astype(code))
inner = np.array([4, 9, 9, 40], np.uint32)
save("inner_u4", inner)
save("falling_u4", np.array([0, 9, 4], np.uint32)), save("beyond_i8", np.array([0, 9, 400])), save("below_i4", np.array([-1, 9], np.int32))


def segmented(a, offsets, f, empty, dtype=None):
    return np.array([f(a[b:e]) if b < e else empty for b, e in zip(offsets[:-1], offsets[1:])]).astype(dtype or a.dtype)


def sorted_slices(a, offsets, down=False):
    a = a.copy()
    for b, e in zip(offsets[:-1], offsets[1:]):
        a[b:e] = np.sort(a[b:e], kind="stable")[:: -1 if down else 1]
    return a


for code, a in whole.items():
    name, offsets = ("inner_u4", inner) if code == "f2" else ("cuts_i8", cuts)
    args = ["--in", f"w_{code}.npy", "--in", f"{name}.npy"]
    least = np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).max
    case(f"segmented_sum_{code}", ["segmented-reduce", *args], segmented(a, offsets, lambda s: s.sum(dtype=sums_of(a)), 0, sums_of(a)))
    case(f"segmented_min_{code}", ["segmented-reduce", "--op", "min", *args], segmented(a, offsets, np.min, least))
    case(f"segmented_sort_{code}", ["segmented-sort", *args], sorted_slices(a, offsets))
    case(f"segmented_sort_down_{code}", ["segmented-sort", "--descending", *args], sorted_slices(a, offsets, True))
    parts = np.split(few[code], offsets)
    order = np.concatenate([np.argsort(p, kind="stable") if 0 < k < len(parts) - 1 else np.arange(p.size) for k, p in enumerate(parts)])
    order += np.repeat([0, *offsets], [p.size for p in parts])
    few_args = ["--in", f"few_{code}.npy", "--in", f"{name}.npy"]
    case(f"segmented_argsort_{code}", ["segmented-argsort", *few_args], order.astype(np.uint32))
    case(f"adjacent_{code}", ["adjacent-difference", "--in", f"w_{code}.npy"], np.diff(a, prepend=a.dtype.type(0)))
    case(f"adjacent_right_{code}", ["adjacent-difference", "--side", "right", "--in", f"w_{code}.npy"], a - np.append(a[1:], a.dtype.type(0)))
    b = np.load(f"runs_{code}.npy")
    starts = np.flatnonzero(np.concatenate([[True], b[1:] != b[:-1]]))
    case(f"by_key_{code}", ["reduce-by-key", "--in", f"runs_{code}.npy", "--in", f"w_{code}.npy"], np.add.reduceat(a, starts, dtype=sums_of(a)))
    if code != "f2":
        counted = ["reduce-by-key", "--in", f"runs_{code}.npy", "--in", "w_i4.npy", "--op", "max"]
        case(f"by_key_max_{code}", counted, np.maximum.reduceat(whole["i4"], starts))
for code in ["u4", "i4", "u8"]:
    case(f"segmented_cuts_{code}", ["segmented-reduce", "--op", "xor", "--in", "w_u4.npy", "--in", f"cuts_{code}.npy"],
         segmented(whole["u4"], cuts, np.bitwise_xor.reduce, 0))
scanned = np.concatenate([np.cumsum(p, dtype=np.int64) for p in np.split(whole["i8"], cuts)])
case("segmented_scan", ["segmented-scan", "--in", "w_i8.npy", "--in", "cuts_u4.npy"], scanned)
case("segmented_scan_exclusive", ["segmented-scan", "--exclusive", "--in", "w_i8.npy", "--in", "cuts_u4.npy"], scanned - whole["i8"])
case("segmented_custom", ["segmented-reduce", "--op", "x * 0 + y", "--identity", "7", "--in", "w_i4.npy", "--in", "inner_u4.npy"],
     np.array([whole["i4"][8], 7, whole["i4"][39]], np.int32))
case("segmented_count", ["segmented-reduce", "--op", "count", "--in", "x_f4.npy", "--in", "inner_u4.npy"],
     np.array([np.count_nonzero(flat[b:e]) for b, e in zip(inner[:-1], inner[1:])], np.uint32))
case("segmented_none", ["segmented-reduce", "--in", "w_u4.npy", "--in", "one_u4.npy"], np.zeros(0, np.uint64))
save("one_u4", np.array([17], np.uint32))
case("by_key_empty", ["reduce-by-key", "--in", "empty.npy", "--in", "empty.npy"], np.zeros(0, np.float32))
case("adjacent_empty", ["adjacent-difference", "--in", "empty.npy"], np.zeros(0, np.float32))

pairs.write(save, shared_case, x)
questions.write(save, shared_case, x)
shapes.write(save, shared_case, cuts)

# The textbooks' sorts: of more keys than a tile of theirs has, and of as many as one row of a table.
rng = np.random.default_rng(20240608)
many = {"u4": rng.integers(0, 1 << 32, 3000, dtype=np.uint32), "f4": rng.normal(size=3000).astype(np.float32)}
for code, a in many.items():
    save(f"many_{code}", a), save(f"want_sort_many_{code}", np.sort(a)), save(f"want_sort_many_down_{code}", np.sort(a)[::-1].copy())
    for variant in ["odd-even-transposition", "bitonic", "odd-even-merge", "sample", "radix-split", "radix-local", "radix-digits", "radix-coarsened", "radix"]:
        args = ["sort", "--variant", variant, "--in", f"many_{code}.npy"]
        for down in ["", "_down"]:
            name = f"sort_many{down}_{variant}_{code}"
            options = ["--descending"] if down else []
            cases.append({"name": name, "args": args + options, "expected": f"want_sort_many{down}_{code}.npy", "tolerance": 0.0})
# The rungs of merges and of histograms, of the same keys.
bins = np.minimum(many["u4"] >> 24, 255).astype(np.uint8)
save("many_bins", bins), save("want_many_bins", np.bincount(bins, minlength=256).astype(np.uint32))
for variant in ["atomic", "private-memory", "private-shared", "coarsened-contiguous", "coarsened-interleaved", "aggregated", "replicated"]:
    args = ["histogram", "--variant", variant, "--in", "many_bins.npy", "--bins", "256", "--range", "0,256"]
    cases.append({"name": f"histogram_many_{variant}", "args": args, "expected": "want_many_bins.npy", "tolerance": 0.0})
for code, a in many.items():
    for down, falls in [("", 1), ("_down", -1)]:
        first, second = np.sort(a[:1100])[::falls], np.sort(a[1100:])[::falls]
        save(f"many_first{down}_{code}", first.copy()), save(f"many_second{down}_{code}", second.copy())
        for variant in ["basic", "tiled", "circular-buffer", "merge-path"]:
            args = ["merge", "--variant", variant, "--in", f"many_first{down}_{code}.npy", "--in", f"many_second{down}_{code}.npy"]
            options = ["--descending"] if down else []
            name, expected = f"merge_many{down}_{variant}_{code}", f"want_sort_many{down}_{code}.npy"
            cases.append({"name": name, "args": args + options, "expected": expected, "tolerance": 0.0})
case("sort_variant_empty", ["sort", "--variant", "sample", "--in", "empty.npy"], np.zeros(0, np.float32))

# Narrow integers over their whole range, so that signs and what wraps can be seen.
rng = np.random.default_rng(20261123)
for code, low, high, few_bins in [("i1", -100, 100, 8), ("i2", -30000, 5000, 7), ("u2", 1000, 61000, 10)]:
    dtype = np.dtype(code)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    a = rng.integers(least, most, 301, dtype=dtype, endpoint=True)
    a[:4] = least, most, 0, least
    b = np.append(rng.choice(a, 20), rng.integers(least, most, 21, dtype=dtype, endpoint=True))
    few_of = (a % 7 * 37 if least == 0 else a % 7 - 3).astype(dtype)
    c = np.sort(few_of)
    c[::11] = 3
    up = np.sort(a, kind="stable")
    save(f"w_{code}", a), save(f"few_{code}", few_of), save(f"runs_{code}", c), save(f"sorted_{code}", up), save(f"other_{code}", np.sort(b))
    save(f"needles_{code}", b)
    one_in, two_in = ["--in", f"w_{code}.npy"], ["--in", f"sorted_{code}.npy", "--in", f"other_{code}.npy"]
    search = ["search", "--in", f"sorted_{code}.npy", "--in", f"needles_{code}.npy"]
    case(f"map_wraps_{code}", ["map", *one_in, "--op", "x * 3 - 100"], (a.astype(np.int64) * 3 - 100).astype(dtype))
    case(f"map_halves_{code}", ["map", *one_in, "--dtype", "f32", "--op", "f32(x) / 2"], a.astype(np.float32) / 2)
    case(f"generate_{code}", ["generate", "--n", "999", "--dtype", dtype.name, "--op", "i * 97"], (np.arange(999) * 97).astype(dtype))
    for op, f in [("sum", np.add), ("min", np.minimum), ("max", np.maximum)]:
        of = sums_of(a) if op == "sum" else dtype
        case(f"reduce_{op}_{code}", ["reduce", "--op", op, *one_in], one(f.reduce(a, dtype=of), of))
    case(f"argmin_{code}", ["argmin", *one_in], one(np.argmin(a), np.uint32))
    case(f"scan_{code}", ["scan", *one_in], np.cumsum(a))
    case(f"sort_{code}", ["sort", *one_in], up)
    case(f"sort_down_{code}", ["sort", "--descending", *one_in], up[::-1].copy())
    case(f"argsort_{code}", ["argsort", "--in", f"few_{code}.npy"], np.argsort(few_of, kind="stable").astype(np.uint32))
    down = (a.size - 1 - np.argsort(few_of[::-1], kind="stable"))[::-1].astype(np.uint32)
    case(f"argsort_down_{code}", ["argsort", "--descending", "--in", f"few_{code}.npy"], down)
    case(f"topk_{code}", ["topk", "-k", "20", *one_in], up[:20])
    rest = np.argsort(np.abs(a.astype(np.int64)), kind="stable")
    case(f"sort_by_{code}", ["sort", "--op", "max(x, 0 - x) < max(y, 0 - y)" if least < 0 else "x < y", *one_in], a[rest])
    case(f"unique_{code}", ["unique", "--in", f"sorted_{code}.npy"], np.unique(a))
    starts = np.flatnonzero(np.concatenate([[True], c[1:] != c[:-1]]))
    case(f"rle_{code}", ["rle", "--in", f"runs_{code}.npy"], c[starts])
    case(f"by_key_{code}", ["reduce-by-key", "--in", f"runs_{code}.npy", *one_in], np.add.reduceat(a, starts, dtype=sums_of(a)))
    case(f"select_{code}", ["select", "--op", "x > 5", *one_in], a[a > 5])
    case(f"gather_{code}", ["gather", *one_in, "--in", "at_u4.npy"], np.take(a, at))
    case(f"merge_{code}", ["merge", *two_in], np.sort(np.concatenate([up, b]), kind="stable"))
    case(f"search_{code}", search, np.searchsorted(up, b).astype(np.uint32))
    case(f"search_right_{code}", [*search, "--side", "right"], np.searchsorted(up, b, side="right").astype(np.uint32))
    even = ["--bins", str(few_bins), "--range", f"{low},{high}"]
    case(f"histogram_{code}", ["histogram", *one_in, *even], counts(a, few_bins, (low, high)).astype(np.uint32))
    edges = np.sort(rng.integers(least, most, 9, dtype=dtype, endpoint=True))
    save(f"edges_{code}", edges)
    of_edges = counts(a, edges.astype(np.float64), edges).astype(np.uint32)
    case(f"histogram_edges_{code}", ["histogram", *one_in, "--edges", f"edges_{code}.npy"], of_edges)
    weights = ["histogram", "--in", "x_f4.npy", "--weights", f"weights_{code}.npy", "--bins", "10", "--range=-50,50"]
    save(f"weights_{code}", a[: x.size])
    sums = counts(x.ravel(), 10, (-50, 50), a[: x.size].astype(np.int64))
    case(f"histogram_weighted_{code}", weights, sums.astype(np.int32 if least < 0 else np.uint32))
    case(f"transpose_{code}", ["transpose", "--in", f"table_{code}.npy"], np.ascontiguousarray(a[:299].reshape(13, 23).T))
    save(f"table_{code}", a[:299].reshape(13, 23))
    least_of_all = np.concatenate([[most], np.minimum.accumulate(a)[:-1]]).astype(dtype)
    case(f"scan_exclusive_min_{code}", ["scan", "--exclusive", "--op", "min", *one_in], least_of_all)
    case(f"segmented_min_{code}", ["segmented-reduce", "--op", "min", *one_in, "--in", "cuts_i8.npy"], segmented(a, cuts, np.min, most))
    case(f"segmented_max_{code}", ["segmented-reduce", "--op", "max", *one_in, "--in", "cuts_i8.npy"], segmented(a, cuts, np.max, least))
    case(f"segmented_sort_{code}", ["segmented-sort", *one_in, "--in", "cuts_i8.npy"], sorted_slices(a, cuts))
    case(f"adjacent_{code}", ["adjacent-difference", *one_in], np.diff(a, prepend=dtype.type(0)))

with open("oracle.json", "w") as f:
    json.dump(cases, f, indent=1)
    f.write("\n")
