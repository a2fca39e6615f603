"""Products of matrices in NumPy's long double, and bounds of the errors of sums in blocks: writes products.json."""

import json
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
json.dump({"f32": cases}, open("products.json", "w"))
