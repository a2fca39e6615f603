"""Solutions and determinants of systems in 60 digits, and bounds of the errors of eliminations with partial pivots: writes solves.json."""

import json
import mpmath
import numpy as np

mpmath.mp.dps = 60


def uniform(n, seed):
    out = []
    for _ in range(n):
        seed = (seed * 1664525 + 1013904223) % 2**32
        out.append(mpmath.mpf(seed >> 8) / 8388608 - 1)
    return out


cases = []
for n, r in [(3, 1), (12, 2), (40, 1), (70, 2)]:
    a = mpmath.matrix(n, n)
    values = uniform(n * n, 3 + n)
    for i in range(n):
        for j in range(n):
            a[i, j] = values[i * n + j]
    values = uniform(n * r, 4 + n)
    b = mpmath.matrix(n, r)
    for i in range(n):
        for j in range(r):
            b[i, j] = values[i * r + j]
    inverse = a**-1
    x = inverse * b
    # Higham, theorem 9.4: |x - x'| <= gamma(3 n) |inv A| |L| |U| |x|, of the factors of NumPy's long double.
    lu = np.array([[np.longdouble(str(a[i, j])) for j in range(n)] for i in range(n)])
    for k in range(n):
        p = k + int(np.argmax(abs(lu[k:, k])))
        lu[[k, p]] = lu[[p, k]]
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    sizes = abs(np.tril(lu, -1)) @ abs(np.triu(lu)) + abs(np.triu(lu))
    inv = np.array([[float(abs(inverse[i, j])) for j in range(n)] for i in range(n)])
    xs = np.array([[float(abs(x[i, j])) for j in range(r)] for i in range(n)])
    # Rows of L and U may have changed places, so that the largest row stands for all.
    growth = float((inv.sum(1).max() * (sizes.astype(float) @ xs)).max())
    cases.append(
        {
            "n": n,
            "r": r,
            "bound": 3 * n * growth,
            "x": [float(x[i, j]) for i in range(n) for j in range(r)],
            "determinant": float(mpmath.det(a)),
            "determinant_bound": float(abs(mpmath.det(a))) * 3 * n * n * float(inv.max() * sizes.max()),
        }
    )
json.dump({"systems": cases}, open("solves.json", "w"))
