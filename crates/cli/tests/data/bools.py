"""Cases of bool files: truth values are operands, through every pattern."""
import numpy as np


def write(save, case, x):
    a, b = x[0] > 0, x[1] > 10
    save("truth_b", b)
    n, flat = a.size, a.ravel()
    one, two = ["--in", "truth.npy"], ["--in", "truth.npy", "--in", "truth_b.npy"]
    numbers = np.arange(n, dtype=np.int16).reshape(a.shape)
    save("numbers_i2", numbers)
    for name, op, wanted in [
        ("not", "!x", ~a),
        ("complement", "~x", ~a),
        ("equals_zero", "x == 0", a == 0),
        ("choice", "x ? 2.5 : -1", np.where(a, np.float32(2.5), np.float32(-1))),
        ("number", "u32(x) + 1", a.astype(np.uint32) + 1),
    ]:
        case(f"bool_map_{name}", ["map", *one, "--op", op], wanted)
    case("bool_map_dtype", ["map", *one, "--op", "!x", "--dtype", "u8"], (~a).astype(np.uint8))
    for name, op, wanted in [
        ("and", "x && y", a & b),
        ("or", "x || y", a | b),
        ("bits", "(x & y) | (x ^ y)", a | b),
        ("not_equal", "x != y", a != b),
        ("less", "x < y", a < b),
        ("at_least", "x >= y", a >= b),
        ("three", "x ? y : !y", np.where(a, b, ~b)),
    ]:
        case(f"bool_zip_{name}", ["zip", *two, "--op", op], wanted)
    case("bool_zip_mask", ["zip", *one, "--in", "numbers_i2.npy", "--op", "x ? y : 0"], np.where(a, numbers, np.int16(0)))
    for op, wanted in [
        ("sum", np.uint32(a.sum())),
        ("product", np.uint32(a.prod())),
        ("count", np.uint32(np.count_nonzero(a))),
        ("min", a.min()),
        ("max", a.max()),
        ("and", np.logical_and.reduce(flat)),
        ("or", np.logical_or.reduce(flat)),
        ("xor", np.logical_xor.reduce(flat)),
        ("x != y", np.logical_xor.reduce(flat)),
    ]:
        name = op if op.isalpha() else "expression"
        case(f"bool_reduce_{name}", ["reduce", *one, "--op", op], np.array([wanted]))
    case("bool_reduce_axis", ["reduce", *one, "--axis", "0"], a.sum(axis=0).astype(np.uint32))
    case("bool_reduce_axis_or", ["reduce", *one, "--axis", "1", "--op", "x || y"], a.any(axis=1))
    case("bool_scan", ["scan", *one], np.cumsum(flat).astype(np.uint32))
    case("bool_scan_xor", ["scan", *one, "--op", "x != y"], np.logical_xor.accumulate(flat))
    exclusive = np.concatenate([[False], np.logical_or.accumulate(flat)[:-1]])
    case("bool_scan_exclusive", ["scan", *one, "--exclusive", "--op", "x || y", "--identity", "false"], exclusive)
    case("bool_scan_axis_and", ["scan", *one, "--axis", "1", "--op", "and"], np.logical_and.accumulate(a, axis=1))
    offsets = np.array([0, 4, 4, 9, n], np.int64)
    save("truth_offsets", offsets)
    ends = list(zip(offsets[:-1], offsets[1:]))
    segments = ["--in", "truth.npy", "--in", "truth_offsets.npy"]
    case("bool_segmented_sum", ["segmented-reduce", *segments], np.array([flat[i:j].sum() for i, j in ends], np.uint32))
    case("bool_segmented_any", ["segmented-reduce", *segments, "--op", "x || y", "--identity", "0"], np.array([flat[i:j].any() for i, j in ends]))
    case("bool_segmented_scan", ["segmented-scan", *segments], np.concatenate([np.cumsum(flat[i:j]) for i, j in ends]).astype(np.uint32))
    heads = np.flatnonzero(np.concatenate([[True], flat[1:] != flat[:-1]]))
    case("bool_by_key", ["reduce-by-key", *two], np.add.reduceat(b.ravel().astype(np.uint32), heads).astype(np.uint32))
    case("bool_select", ["select", *one, "--op", "!x"], flat[~flat])
    case("bool_select_of_two", ["select", "--in", "numbers_i2.npy", "--in", "truth.npy", "--op", "!y"], numbers.ravel()[~flat])
    case("bool_select_flags", ["select", "--flags", "--in", "numbers_i2.npy", "--in", "truth.npy"], numbers.ravel()[flat])
    case("bool_partition", ["partition", *one, "--op", "!x"], np.sort(flat))
    case("bool_count", ["count", *one, "--op", "!x"], np.array([(~flat).sum()], np.uint32))
    case("bool_any", ["any", *two, "--op", "x && !y"], np.array([(a & ~b).any()]))
    case("bool_all", ["all", *one], np.array([a.all()]))
    case("bool_find", ["find", *one, "--op", "!x"], np.array([np.argmin(flat)], np.uint32))
    case("bool_dot", ["dot", *two], np.array([np.dot(flat, b.ravel())]))
    case("bool_argmax", ["argmax", *one], np.array([np.argmax(flat)], np.uint32))
    save("truth_line", flat)
    case("bool_sort_by", ["sort", "--in", "truth_line.npy", "--op", "x > y"], np.sort(flat)[::-1].copy())
    case("bool_argsort", ["argsort", "--in", "truth_line.npy", "--op", "y && !x"], np.argsort(~flat ^ True, kind="stable").astype(np.uint32))
    case("bool_difference", ["adjacent-difference", "--in", "truth_line.npy"], np.concatenate([flat[:1], np.diff(flat)]))
    case("bool_unique", ["unique", *one], flat[heads])
