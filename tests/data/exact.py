"""Writes exact.json: sums, means and dot products of floats by Python's integers, rounded once, as the bits of floats.

Needs no package; run in this folder: `python3 exact.py`. Sums of f64 are checked against math.fsum.
"""

import json
import math
import struct
from fractions import Fraction


def words(n, seed):
    """A linear congruential sequence modulo 2^32."""
    out = []
    for _ in range(n):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(seed)
    return out


def f32_bits(n, seed, near):
    """Any finite bits, or exponents of `near` ones around 1."""
    out = []
    for word in words(n, seed):
        if near:
            word = word & 0x807FFFFF | (120 + (word >> 23 & 0xFF) % near) << 23
        elif word >> 23 & 0xFF == 255:
            word ^= 0x40000000
        out.append(word)
    return out


def f64_bits(n, seed, near):
    out = []
    both = words(2 * n, seed)
    for high, low in zip(both[::2], both[1::2]):
        if near:
            high = high & 0x800FFFFF | (1000 + (high >> 20 & 0x7FF) % near) << 20
        elif high >> 20 & 0x7FF == 2047:
            high ^= 0x40000000
        out.append(high << 32 | low)
    return out


def value(bits, size):
    return Fraction(struct.unpack("<f" if size == 4 else "<d", struct.pack("<I" if size == 4 else "<Q", bits))[0])


def rounded(x, size):
    """The bits of the nearest float, ties to even."""
    mantissa, least, field, top = (24, -149, 23, 255) if size == 4 else (53, -1074, 52, 2047)
    sign = 1 << (31 if size == 4 else 63) if x < 0 else 0
    x = abs(x)
    if x == 0:
        return 0
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    exponent += x >= Fraction(2) ** exponent
    unit = max(exponent - mantissa, least)
    whole, rest = divmod(x / Fraction(2) ** unit, 1)
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    bits = (unit - least << field) + int(whole)
    return sign | min(bits, top << field)


assert rounded(Fraction(1), 4) == 0x3F800000 and rounded(Fraction(1, 3), 8) == struct.unpack("<Q", struct.pack("<d", 1 / 3))[0]
assert rounded(Fraction(2) ** -150, 4) == 0 and rounded(Fraction(3, 2) * Fraction(2) ** -149, 4) == 2 and rounded(Fraction(2) ** 128, 4) == 0x7F800000

LENGTHS = [0, 1, 2, 3, 5, 31, 127, 128, 1023, 2048, 2049, 5000, 20_011]
fixtures = {"lengths": LENGTHS}
for near in [0, 9]:
    for name, size, make in [("f32", 4, f32_bits), ("f64", 8, f64_bits)]:
        bits = make(20_011, 7 + near, near)
        x = [value(b, size) for b in bits]
        sums = [sum(x[:n], Fraction(0)) for n in LENGTHS]
        if size == 8 and near:
            assert all(math.fsum(map(float, x[:n])) == value(rounded(s, 8), 8) for n, s in zip(LENGTHS, sums))
        of = fixtures[f"{name} near {near}"] = {
            "sums": [rounded(s, size) for s in sums],
            "means": [rounded(s / n, size) for n, s in zip(LENGTHS, sums) if n > 0],
            "rows": [rounded(sum(x[k * 1031 : (k + 1) * 1031]), size) for k in range(19)],
            "short rows": [rounded(sum(x[k * 7 : (k + 1) * 7]), size) for k in range(500)],
            "columns": [rounded(sum(x[k : 13 * 501 : 13]), size) for k in range(13)],
            "column means": [rounded(sum(x[k : 13 * 501 : 13]) / 501, size) for k in range(13)],
        }
        if size == 4:
            of["dots"] = [rounded(sum((a * b for a, b in zip(x[:n], x[::-1][:n])), Fraction(0)), 4) for n in LENGTHS]
json.dump(fixtures, open("exact.json", "w"), separators=(",", ":"))
