"""Solutions of systems whose matrices come from applications, in 60 digits: writes matrices.json.

Takes two files of the Harwell-Boeing collection in the Matrix Market's format, which Debian's package r-cran-matrix has: lund_a.mtx (symmetric, positive
definite: a shell under load) and pores_1.mtx (unsymmetric: a simulation of a reservoir).
"""

import json
import sys
import mpmath
import numpy as np

mpmath.mp.dps = 60


def read(path):
    lines = open(path).read().split("\n")
    is_symmetric = "symmetric" in lines[0]
    rows = [line.split() for line in lines[1:] if line and not line.startswith("%")]
    n = int(rows[0][0])
    entries = [[int(i) - 1, int(j) - 1, float(v)] for i, j, v in rows[1:]]
    return n, is_symmetric, entries


cases = []
for path in sys.argv[1:]:
    n, is_symmetric, entries = read(path)
    a = np.zeros((n, n))
    for i, j, v in entries:
        a[i, j] = v
        if is_symmetric:
            a[j, i] = v
    exact = mpmath.matrix(a.tolist())
    inverse = exact**-1
    # A right-hand side of small whole numbers.
    b = [(i * 7 + 3) % 11 - 5 for i in range(n)]
    x = inverse * mpmath.matrix(b)
    # Higham, theorem 9.4, with the factors of elimination with partial pivots; theorem 10.4 has the same bound for Cholesky's.
    lu, order = a.astype(np.longdouble), np.arange(n)
    for k in range(n):
        p = k + int(np.argmax(abs(lu[k:, k])))
        lu[[k, p]], order[[k, p]] = lu[[p, k]], order[[p, k]]
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    low, up = abs(np.tril(lu, -1)) + np.eye(n), abs(np.triu(lu))
    sizes = np.array([float(abs(v)) for v in x])
    inv = np.array([[float(abs(inverse[i, j])) for j in range(n)] for i in range(n)])
    # The factors are those of A + E, |E| <= gamma(n) |L| |U|, and the determinant's relative change is the sum of inv(A)[j, i] E[i, j]; n products more.
    determinant = mpmath.det(exact)
    changes = (inv.T[order] * (low @ up).astype(float)).sum()
    residual = np.zeros(n)
    residual[order] = (low @ (up @ sizes)).astype(float)
    cases.append(
        {
            "name": path.split("/")[-1].split(".")[0],
            "n": n,
            "symmetric": is_symmetric,
            "entries": entries,
            "condition": float(np.linalg.cond(a)),
            "b": b,
            "x": [float(v) for v in x],
            # In units of the relative spacing of floats.
            "bounds": (3 * n * (inv @ residual)).tolist(),
            # Mantissa and binary exponent, and the relative bound in those units.
            "determinant": [float(mpmath.frexp(determinant)[0]), int(mpmath.frexp(determinant)[1])],
            "determinant_bound": float(n * changes + n),
        }
    )
json.dump({"matrices": cases}, open("matrices.json", "w"), separators=(",", ":"))
