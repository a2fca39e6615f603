"""Writes sums.json: sums of NumPy, of which isowarp's in the same order have the bits.

Needs NumPy; run in this folder: `python3 sums.py`. Elements are integers of 32 and 64 bits by powers of two, so that they cancel and lose digits.
"""

import hashlib
import json

import numpy as np


def sha(values, dtype):
    return hashlib.sha256(np.asarray(values, dtype).tobytes()).hexdigest()


def elements(n, dtype):
    i = np.arange(n, dtype=np.uint64)
    word = (i + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    word ^= word >> np.uint64(29)
    if dtype == np.float32:
        return (word >> np.uint64(32)).astype(np.uint32).view(np.int32).astype(np.float32) * np.float32(2) ** -(i % np.uint64(40)).astype(np.float32)
    return word.view(np.int64).astype(np.float64) * 2.0 ** -(i % np.uint64(60)).astype(np.float64)


LENGTHS = list(range(300)) + [511, 512, 513, 1000, 1023, 1024, 1025, 2047, 2049, 4097, 8200, 65535, 65536, 65537, 100_003, 1_000_003, 4_194_309]

# Segments of every length up to 300, of some that are longer, and empty ones among them; none begins at the first element.
OFFSETS = np.cumsum([5] + [k // 2 if k % 2 else 0 for k in range(600)] + LENGTHS[300:-1] + [0, 7]).tolist()

found = {"made by": f"NumPy {np.__version__}"}
for dtype in (np.float32, np.float64):
    x = elements(max(LENGTHS), dtype)
    matrix, cube = x[: 37 * 1003].reshape(37, 1003), x[: 5 * 300 * 7].reshape(5, 300, 7)
    found[np.dtype(dtype).name] = {
        "elements": sha(x, dtype),
        "sums": sha([np.sum(x[:n]) for n in LENGTHS], dtype),
        "zeros": sha([np.sum(np.full(n, -0.0, dtype)) for n in (1, 7, 8, 9, 130, 1000)], dtype),
        "rows": sha(np.sum(matrix, axis=1), dtype),
        "columns in turn": sha(np.sum(matrix, axis=0), dtype),
        "middle in turn": sha(np.sum(cube, axis=1), dtype),
        "segments": sha([np.sum(x[a:b]) for a, b in zip(OFFSETS, OFFSETS[1:])], dtype),
        "segments in turn": sha([np.cumsum(x[a:b])[-1] if a < b else dtype(0) for a, b in zip(OFFSETS[:300], OFFSETS[1:300])], dtype),
        "running": sha(np.cumsum(x[:100_003])[[0, 1, 99, 9999, 100_002]], dtype),
    }
json.dump(found, open("sums.json", "w"), indent=1)
