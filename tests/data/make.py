"""Writes fixtures.json: results of NumPy and SciPy that isowarp's have to equal, bit for bit.

Needs NumPy and SciPy; run in this folder: `python3 make.py`.

camera.png is Lav Varshney's photograph, 512x512 pixels of 8-bit grey, as it comes with scikit-image (CC0). It is read here
without a PNG library: eight-bit grey, not interlaced, the five filters of the PNG specification.
"""

import hashlib
import json
import struct
import zlib

import numpy as np
from scipy import ndimage


def read_png(path):
    data = open(path, "rb").read()
    at, idat = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert (depth, colour, interlace) == (8, 0, 0)
        elif kind == b"IDAT":
            idat += body
        at += size + 12
    raw = zlib.decompress(idat)
    image = np.zeros((height, width), np.uint8)
    above = [0] * width
    for y in range(height):
        line = raw[y * (width + 1) : (y + 1) * (width + 1)]
        row = []
        for x, value in enumerate(line[1:]):
            a, b, c = (row[x - 1] if x else 0), above[x], (above[x - 1] if x else 0)
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row.append((value + [0, a, b, (a + b) // 2, paeth][line[0]]) & 255)
        image[y], above = row, row
    return image


def sha(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


MODES = {"Clamp": "nearest", "Zero": "constant", "Mirror": "mirror"}
rng = np.random.RandomState(20_250_101)
ints = rng.randint(-(2**31), 2**31, 9_001, dtype=np.int64).astype(np.int32)
small = rng.randint(0, 8, 5000).astype(np.int32)
floats = (rng.randint(0, 100, 1000) / np.float32(4)).astype(np.float32)
camera = read_png("camera.png")
exact = camera.astype(np.int64)

laplacian = np.array([[-2, 1, -2], [1, 4, 1], [-2, 1, -2]])
highpass = np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]])
gaussian = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]])
to_right = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])

images = {}
for border, mode in MODES.items():
    weighted = lambda w: ndimage.correlate(exact, w, mode=mode, cval=0)
    dx, dy = weighted(to_right), weighted(to_right.T)
    # Sixteenths below 2^24 are exact in f32; so is the sum of the two squares, and its square root in f64 rounds to the f32 one.
    images[border] = {
        "median3 u8": sha(ndimage.median_filter(camera, size=3, mode=mode, cval=0)),
        "median3 f32": sha(ndimage.median_filter(camera.astype(np.float32), size=3, mode=mode, cval=0)),
        "laplacian f32": sha(weighted(laplacian).astype(np.float32)),
        "highpass f32": sha(weighted(highpass).astype(np.float32)),
        "highpass u8": sha(np.clip(weighted(highpass), 0, 255).astype(np.uint8)),
        "gaussian3 f32": sha((weighted(gaussian) / 16).astype(np.float32)),
        "gaussian3 u8": sha(((weighted(gaussian) + 8) // 16).astype(np.uint8)),
        "sobel f32": sha(np.sqrt((dx * dx + dy * dy).astype(np.float64)).astype(np.float32)),
    }

# Keys with ties, enough of them that the first are looked for: a hash of the index. Descending and stable is the reverse of the reversed order.
many = (np.arange(300_007, dtype=np.uint64) * 2654435761 % 2**32).astype(np.uint32) >> 14
heads, rows_heads = {}, {}
for name, keys in {"u32": many, "f32": (many.astype(np.float32) - 2**17) / np.float32(8), "u8": (many >> 10).astype(np.uint8)}.items():
    up = np.argsort(keys, kind="stable")
    down = (keys.size - 1 - np.argsort(keys[::-1], kind="stable"))[::-1]
    for order, places in [("up", up), ("down", down)]:
        heads[f"{name} {order}"] = [[sha(keys[places[:k]]), sha(places[:k].astype(np.uint32))] for k in [1, 1000, 30_000]]
    # The first seven of every row: of many short rows, of some, and of long ones.
    for rows in [1200, 100, 3]:
        matrix = keys[:300_000].reshape(rows, -1)
        up = np.argsort(matrix, axis=1, kind="stable")
        down = (matrix.shape[1] - 1 - np.argsort(matrix[:, ::-1], axis=1, kind="stable"))[:, ::-1]
        for order, places in [("up", up), ("down", down)]:
            places = places[:, :7]
            of = [sha(np.take_along_axis(matrix, places, axis=1)), sha(places.astype(np.uint32))]
            rows_heads.setdefault(f"{name} {order}", []).append(of)

with np.errstate(over="ignore"):
    fixtures = {
        "made by": f"NumPy {np.__version__}",
        "camera": sha(camera),
        "ints": ints.tolist(),
        "ints cumsum": sha(np.cumsum(ints, dtype=np.int32)),
        "ints sum": int(np.sum(ints, dtype=np.int32)),
        "ints xor": int(np.bitwise_xor.reduce(ints)),
        "ints running max": sha(np.maximum.accumulate(ints)),
        "small": small.tolist(),
        "small argmin": int(np.argmin(small)),
        "small argmax": int(np.argmax(small)),
        "small axis sums": [np.sum(small.reshape(10, 25, 20), axis=k).ravel().tolist() for k in range(3)],
        "small axis cumsums": [sha(np.cumsum(small.reshape(10, 25, 20), axis=k, dtype=np.int32)) for k in range(3)],
        "floats": floats.tolist(),
        "floats argmin": int(np.argmin(floats)),
        "floats argmax": int(np.argmax(floats)),
        "floats sum": float(np.sum(floats, dtype=np.float64)),
        "floats cumsum": sha(np.cumsum(floats, dtype=np.float64).astype(np.float32)),
        "floats square roots": sha(np.sqrt(floats)),
        "images": images,
        "first of many": heads,
        "first of rows": rows_heads,
    }
json.dump(fixtures, open("fixtures.json", "w"), separators=(",", ":"))
