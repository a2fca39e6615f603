"""The part of make.py about values that travel with keys: of every type, with every kind of bits."""
import numpy as np


def write(save, case, x):
    rng = np.random.default_rng(20261123)
    codes = ["f4", "f2", "i4", "u1", "f8", "u4", "i8", "u8"]
    starts_of = lambda k: np.flatnonzero(np.concatenate([[True], k[1:] != k[:-1]])) if k.size else np.zeros(0, np.int64)
    bits_of = lambda code, n: np.frombuffer(rng.bytes(n * np.dtype(code).itemsize), code)
    tag = np.repeat(rng.integers(0, 5, 60), rng.integers(1, 8, 60))[:200]
    pairs = {code: (tag.astype(code), bits_of(code, 200)) for code in codes}
    other = {code: (np.sort(rng.integers(0, 5, 90)).astype(code), bits_of(code, 90)) for code in codes}
    for code, (k, v) in pairs.items():
        save(f"tag_{code}", k), save(f"load_{code}", v), save(f"rising_tag_{code}", np.sort(k))
        save(f"other_tag_{code}", other[code][0]), save(f"other_load_{code}", other[code][1])
    for t, code in enumerate(codes):
        k = pairs[code][0]
        up = np.argsort(k, kind="stable")
        down = (k.size - 1 - np.argsort(k[::-1], kind="stable"))[::-1]
        of = codes[(t + 1) % 8]
        v, name, both = pairs[of][1], f"{code}_{of}", ["--by-key", "--in", f"tag_{code}.npy", "--in", f"load_{of}.npy"]
        case(f"sort_by_key_{name}", ["sort", *both], v[up], keys_out=k[up])
        case(f"sort_by_key_down_{name}", ["sort", "--descending", *both], v[down], keys_out=k[down])
        case(f"topk_by_key_{name}", ["topk", "-k", "17", *both], v[up[:17]], keys_out=k[up[:17]], indices=up[:17].astype(np.uint32))
        case(f"unique_by_key_{name}", ["unique", *both], v[starts_of(k)], keys_out=k[starts_of(k)])
        (l, w), name = (other[code][0], other[of][1]), f"{code}_{of}"
        two = ["--in", f"rising_tag_{code}.npy", "--in", f"load_{of}.npy", "--in", f"other_tag_{code}.npy", "--in", f"other_load_{of}.npy"]
        keys, values = np.concatenate([np.sort(k), l]), np.concatenate([v, w])
        order = np.argsort(keys, kind="stable")
        case(f"merge_by_key_{name}", ["merge", "--by-key", *two], values[order], keys_out=keys[order])
        # Whole numbers, whose sums are exact in any order.
        v = rng.integers(0, 9, 200).astype(codes[(t + 3) % 8])
        save(f"whole_{v.dtype.str[1:]}", v)
        of_runs = ["scan", "--by-key", "--in", f"tag_{code}.npy", "--in", f"whole_{v.dtype.str[1:]}.npy"]
        runs = np.split(v, starts_of(k)[1:])
        sums = np.concatenate([np.cumsum(r, dtype=np.sum(v[:0]).dtype) for r in runs])
        case(f"scan_by_key_{code}", of_runs, sums)
        case(f"scan_by_key_exclusive_{code}", [*of_runs, "--exclusive"], sums - v)
        case(f"scan_by_key_max_{code}", [*of_runs, "--op", "max"], np.concatenate([np.maximum.accumulate(r) for r in runs]))
    case("scan_by_key_count", ["scan", "--by-key", "--op", "count", "--in", "tag_f4.npy", "--in", "whole_f8.npy"],
         np.concatenate([np.cumsum(r != 0) for r in np.split(np.load("whole_f8.npy"), starts_of(tag)[1:])]).astype(np.uint32))
    ones = ["--op", "x % 3 > y % 3", "--by-key"]
    for of in ["u1", "u4", "f8"]:
        order = np.argsort(-(tag % 3), kind="stable")
        both = ["--in", "tag_i4.npy", "--in", f"load_{of}.npy"]
        case(f"sort_by_key_op_{of}", ["sort", *ones, *both], pairs[of][1][order], keys_out=tag[order].astype("i4"))
        a, b = tag[order].astype("i4"), other["i4"][0][np.argsort(-(other["i4"][0] % 3), kind="stable")]
        save("falling_rest_a", a), save("falling_rest_b", b)
        keys, values = np.concatenate([a, b]), np.concatenate([pairs[of][1], other[of][1]])
        order = np.argsort(-(keys % 3), kind="stable")
        two = ["--in", "falling_rest_a.npy", "--in", f"load_{of}.npy", "--in", "falling_rest_b.npy", "--in", f"other_load_{of}.npy"]
        case(f"merge_by_key_op_{of}", ["merge", *ones, *two], values[order], keys_out=keys[order])
    rows = {of: bits_of(of, x.size).reshape(x.shape) for of in ["u1", "f4"]}
    for of, v in rows.items():
        save(f"rows_{of}", v)
        order = np.argsort(x, axis=-1, kind="stable")
        along = lambda a, o=order: np.take_along_axis(a, o, axis=-1)
        both = ["--by-key", "--in", "x_f4.npy", "--in", f"rows_{of}.npy"]
        case(f"sort_by_key_rows_{of}", ["sort", *both], along(v), keys_out=along(x))
        first = lambda a: np.ascontiguousarray(along(a)[..., :2])
        indices = order[..., :2].astype(np.uint32)
        case(f"topk_by_key_rows_{of}", ["topk", "-k", "2", "--axis", "-1", *both], first(v), keys_out=first(x), indices=indices)
    empties = ["--by-key", *["--in", "empty.npy"] * 2]
    for pattern in [["sort"], ["unique"], ["topk", "-k", "0"], ["sort", "--op", "x < y"]]:
        case(f"{pattern[0]}_by_key_empty_{len(pattern)}", [*pattern, *empties], np.zeros(0, np.float32), keys_out=np.zeros(0, np.float32))
    case("scan_by_key_empty", ["scan", *empties], np.zeros(0, np.float32))
    case("merge_by_key_empty", ["merge", *empties, *["--in", "empty.npy"] * 2], np.zeros(0, np.float32), keys_out=np.zeros(0, np.float32))
    truths = ["--by-key", "--in", "truth.npy", "--in", "truth.npy"]
    case("sort_by_key_truth", ["sort", *truths], np.sort(x[0] > 0, axis=-1), keys_out=np.sort(x[0] > 0, axis=-1))
