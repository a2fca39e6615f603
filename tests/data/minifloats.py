"""Writes minifloats.json: digests of what ml_dtypes and NumPy make of every code of a format and of some three million f32, and NumPy of f64 as f16.

Needs NumPy and ml_dtypes; run in this folder: `python3 minifloats.py`. NaN is made positive and quiet; where a format has none, ml_dtypes has a zero for it, and
isowarp the greatest number.
"""

import hashlib
import json

import ml_dtypes
import numpy as np

FORMATS = {
    "e4m3": ("float8_e4m3fn", 0x7F),
    "e4m3-ieee": ("float8_e4m3", 0x7C),
    "e5m2": ("float8_e5m2", 0x7E),
    "e3m4": ("float8_e3m4", 0x78),
    "e3m2": ("float6_e3m2fn", 0x1F),
    "e2m3": ("float6_e2m3fn", 0x1F),
    "e2m1": ("float4_e2m1fn", 0x07),
    "bf16": ("bfloat16", 0x7FC0),
    "f16": (None, 0x7E00),
}


def sha(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


# Every f32 whose lower half is a multiple of 2^12, and its neighbours: all numbers and all ties of formats with up to ten bits of mantissa.
low = np.array([(k << 12) + by & 0xFFFF for k in range(16) for by in (0, 1, -1)], np.uint32)
x = ((np.arange(1 << 16, dtype=np.uint32)[:, None] << 16) | low).ravel().view(np.float32)

found = {"made by": f"NumPy {np.__version__}, ml_dtypes {ml_dtypes.__version__}", "inputs": sha(x)}
for name, (dtype, nan) in FORMATS.items():
    dtype = np.dtype(getattr(ml_dtypes, dtype)) if dtype else np.dtype(np.float16)
    words = np.dtype(f"u{dtype.itemsize}")
    bits = {"e3m2": 6, "e2m3": 6, "e2m1": 4}.get(name, 8 * dtype.itemsize)
    with np.errstate(all="ignore"):
        decoded = np.arange(1 << bits).astype(words).view(dtype).astype(np.float32)
        encoded = x.astype(dtype)
    decoded[np.isnan(decoded)] = np.nan
    is_nan = np.isnan(x) | np.isnan(encoded.astype(np.float32))
    found[name] = {"decoded": sha(decoded), "encoded": sha(np.where(is_nan, nan, encoded.view(words)).astype(words))}

# All f16 and what is halfway between them, beside the two f64 that are next to each, with both signs: NumPy rounds an f64 to f16 once.
values = np.arange(0x7C01).astype(np.uint16).view(np.float16).astype(np.float64)
values[-1] = 65536
points = np.concatenate([values, (values[:-1] + values[1:]) / 2])
points = np.concatenate([points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf)])
x = np.concatenate([points, -points])
with np.errstate(all="ignore"):
    found["f16"] |= {"f64 inputs": sha(x), "encoded f64": sha(x.astype(np.float16))}
json.dump(found, open("minifloats.json", "w"), indent=1)
