"""Makes fft.json: transforms by sums in long double, checked against SciPy's, and bits of the levels that isowarp states, by NumPy's arithmetic.

    python fft.py > fft.json
"""

import functools
import json
import math

import numpy as np
import scipy.fft

LONG = np.longdouble
PI = LONG("3.14159265358979323846264338327950288419716939937510")
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 25, 27, 29, 30, 32, 35, 49, 60, 64, 97, 105, 128,
           210, 243, 256, 343, 509, 625, 1000, 1024, 1009, 2048, 2520, 3125, 4096, 4099, 5040, 8192, 16384, 16807, 19683]


def numbers(n, seed):
    """Multiples of 2^-12 from -2048 / 4096 on, which f32 holds."""
    out = np.empty(n)
    for i in range(n):
        seed = (seed * 1664525 + 1013904223) % 2**32
        out[i] = (seed >> 20) / 4096 - 0.5
    return out


def points(n):
    z = numbers(2 * n, n)
    return z[0::2] + 1j * z[1::2]


def turns(top, n):
    """exp(-2 pi i top / n), of angles of an octant."""
    top = np.asarray(top, dtype=np.int64) % n
    octant, rest = 8 * top // n, 8 * top % n
    rest = np.where(octant % 2 == 1, n - rest, rest)
    angle = PI / 4 * rest.astype(LONG) / LONG(n)
    c, s = np.cos(angle), np.sin(angle)
    cosine = np.choose(octant, [c, s, -s, -c, -c, -s, s, c])
    sine = np.choose(octant, [s, c, c, s, -s, -c, -c, -s])
    return cosine, -sine


ONE = 1 << 200


@functools.cache
def circle(n):
    """cos and sin of 2 pi a / n for a below n, correctly rounded, from integers of 200 binary digits."""
    # Machin's formula.
    def arctan(x):
        total, term, k = 0, ONE * 16 // x, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term, k = term // (x * x), k + 2
        return total

    pi = (4 * arctan(5) - arctan(239)) // 4

    def point(a):
        angle, c, s, term, k = 2 * pi * a // n, 0, 0, ONE, 0
        while term:
            c, s = c + term * (k % 2 == 0) * (1 - k % 4), s + term * (k % 2 == 1) * (2 - k % 4)
            k += 1
            term = term * angle // ONE // k
        return c, s

    step = math.isqrt(n) + 1
    fine, coarse = [point(a) for a in range(step)], [point(step * a) for a in range(n // step + 1)]
    out = np.empty((n, 2))
    for a in range(n):
        (c, s), (d, t) = coarse[a // step], fine[a % step]
        # An axis or a diagonal is met exactly.
        out[a] = [part / ONE if abs(part) > 1 << 40 else 0.0 for part in ((c * d - s * t) // ONE, (s * d + c * t) // ONE)]
    return out


def rounded_turns(top, n):
    of = circle(n)[np.asarray(top) % n]
    return of[..., 0], -of[..., 1]


def exact(z, bins):
    """The sums of these bins."""
    n = len(z)
    i = np.arange(n, dtype=np.int64)
    out = []
    for k in bins:
        c, s = turns(i * k, n)
        x, y = z.real.astype(LONG), z.imag.astype(LONG)
        out.append((np.sum(x * c - y * s), np.sum(x * s + y * c)))
    return out


def levels(z, dtype):
    """The order of evaluation that isowarp states: (real, imaginary) arrays of dtype, None for lengths without levels."""
    n = len(z)
    rest, radices = n, []
    for r in [4, 2, 3, 5, 7]:
        while rest % r == 0:
            rest //= r
            radices.append(r)
    if rest > 1:
        return None
    x = (z.real.astype(dtype), z.imag.astype(dtype))
    add = lambda a, b: (a[0] + b[0], a[1] + b[1])
    sub = lambda a, b: (a[0] - b[0], a[1] - b[1])
    minus_turned = lambda a, b: (a[0] + b[1], a[1] - b[0])
    plus_turned = lambda a, b: (a[0] - b[1], a[1] + b[0])
    scale = lambda c, a: (dtype(c) * a[0], dtype(c) * a[1])
    l = 1
    for r in radices:
        i = np.arange(n // r)
        k = i % l
        a = [(x[0][i + j * (n // r)], x[1][i + j * (n // r)]) for j in range(r)]
        if l > 1:
            for j in range(1, r):
                c, d = (part.astype(dtype) for part in rounded_turns(j * k, l * r))
                p, q = a[j]
                a[j] = (p * c - q * d, p * d + q * c)
        half = (r - 1) // 2
        if r == 2:
            y = [add(a[0], a[1]), sub(a[0], a[1])]
        elif r == 4:
            s, d, t, e = add(a[0], a[2]), sub(a[0], a[2]), add(a[1], a[3]), sub(a[1], a[3])
            y = [add(s, t), minus_turned(d, e), sub(s, t), plus_turned(d, e)]
        else:
            s = [add(a[j], a[r - j]) for j in range(1, half + 1)]
            d = [sub(a[j], a[r - j]) for j in range(1, half + 1)]
            cos = lambda j: float(rounded_turns(j, r)[0])
            sin = lambda j: -float(rounded_turns(j, r)[1])
            total = a[0]
            for part in s:
                total = add(total, part)
            y = [total] + [None] * (r - 1)
            for m in range(1, half + 1):
                even, odd = a[0], None
                for j in range(1, half + 1):
                    even = add(even, scale(-0.5 if r == 3 else cos(m * j), s[j - 1]))
                    term = scale(sin(m * j), d[j - 1])
                    odd = term if odd is None else add(odd, term)
                y[m], y[r - m] = minus_turned(even, odd), plus_turned(even, odd)
        out = (np.empty(n, dtype), np.empty(n, dtype))
        for j in range(r):
            at = (i - k) * r + k + j * l
            out[0][at], out[1][at] = y[j]
        x = out
        l *= r
    return x


def digest(x, word):
    """Sum of the bits, each times its place from 1 on, modulo 2^64."""
    pairs = np.stack(x, axis=1).reshape(-1)
    pairs = np.where(pairs == 0, np.zeros_like(pairs), pairs)
    bits = pairs.view(word).astype(np.uint64)
    with np.errstate(over="ignore"):
        return int(np.sum(bits * (np.arange(len(bits), dtype=np.uint64) + np.uint64(1)), dtype=np.uint64))


def main():
    out = []
    for n in LENGTHS:
        z = points(n)
        bins = list(range(n)) if n <= 16 else sorted({0, 1, 2, 3, n // 3, n // 2, n // 2 + 1, n - 2, n - 1})
        values = exact(z, bins)
        other = scipy.fft.fft(z.astype(np.clongdouble))
        for k, (c, s) in zip(bins, values):
            assert abs(other[k].real - c) + abs(other[k].imag - s) < 1e-17 * n + 1e-17, (n, k)
        row = {"n": n, "bins": bins, "values": [[float(c), float(s)] for c, s in values]}
        for name, dtype, word in [("f32", np.float32, np.uint32), ("f64", np.float64, np.uint64)]:
            x = levels(z, dtype)
            if x is not None:
                row[name] = digest(x, word)
        out.append(row)
    print("[\n" + ",\n".join(json.dumps(row) for row in out) + "\n]")


main()
