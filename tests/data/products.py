"""Products of matrices in NumPy's long double, and bounds of the errors of sums in blocks: writes products.json."""

import json
import math
from fractions import Fraction
import numpy as np


def uniform(n, seed):
    out = np.empty(n, np.longdouble)
    for i in range(n):
        seed = (seed * 1664525 + 1013904223) % 2**32
        out[i] = np.longdouble(seed >> 8) / 8388608 - 1
    return out


cases = []
for m, n, k in [(3, 4, 5), (17, 9, 600), (5, 33, 2050)]:
    a, b = uniform(m * k, 3).reshape(m, k), uniform(k * n, 4).reshape(k, n)
    c = (a[:, :, None] * b[None, :, :]).sum(1)
    # A term takes part in at most 512 roundings of its chain and one of each block after it; the sum of sizes bounds all partial sums.
    sizes = (abs(a)[:, :, None] * abs(b)[None, :, :]).sum(1).max()
    bound = float(sizes) * (min(k, 512) + -(-k // 512)) * 2.0**-24
    cases.append({"m": m, "n": n, "k": k, "bound": bound, "c": [float(x) for x in c.ravel()]})


def fixed_row(x):
    """Numbers of a row as integers, multiples of 2^-29 of the power of two at or below the greatest, and their digits, the highest one first."""
    exponent = max(math.frexp(float(max(abs(x))))[1] - 1, -126)
    digits = []
    for v in x:
        left = round(Fraction(float(v)) * Fraction(2) ** (29 - exponent))
        four = []
        for _ in range(3):
            digit = (left + 128) % 256 - 128
            left = (left - digit) // 256
            four.insert(0, digit)
        digits.append([left] + four)
    return exponent, digits


def fixed(a, b):
    """Bits of a fixed-point product, by whole numbers and fractions."""
    out = []
    columns = [fixed_row(b[:, j]) for j in range(b.shape[1])]
    for i in range(a.shape[0]):
        of_row, x = fixed_row(a[i])
        for of_column, y in columns:
            total = sum(d[p] * e[q] * 256 ** (3 - p - q) for d, e in zip(x, y) for p in range(4) for q in range(4 - p))
            exact = Fraction(total) * Fraction(2) ** (24 + of_row + of_column - 58)
            out.append(int(np.float32(nearest(exact)).view(np.uint32)))
    return out


def nearest(x):
    """The nearest f32 of a fraction; it is normal or zero."""
    if x == 0:
        return 0.0
    exponent = 0
    while abs(x) >= 2:
        x, exponent = x / 2, exponent + 1
    while abs(x) < 1:
        x, exponent = x * 2, exponent - 1
    return float(round(x * 2**23)) * 2.0 ** (exponent - 23)


exact = []
for m, n, k, spread in [(3, 4, 5, 0), (5, 3, 700, 0), (4, 5, 300, 20)]:
    a, b = uniform(m * k, 7).reshape(m, k), uniform(k * n, 8).reshape(k, n)
    # Element q of a row is smaller by 2^(q mod spread).
    scale = np.array([2.0 ** -(q % spread) if spread else 1.0 for q in range(k)], np.float32)
    a, b = (a.astype(np.float32) * scale), (b.astype(np.float32) * scale[:, None])
    exact.append({"m": m, "n": n, "k": k, "spread": spread, "bits": fixed(a, b)})
json.dump({"f32": cases, "fixed": exact}, open("products.json", "w"))
