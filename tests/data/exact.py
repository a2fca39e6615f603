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
        products = [a * b for a, b in zip(x, x[::-1])]
        of["dots"] = [rounded(sum(products[:n], Fraction(0)), size) for n in LENGTHS]
        of["dots of rows"] = [rounded(sum(products[k * 1031 : (k + 1) * 1031]), size) for k in range(19)]
        of["dots of short rows"] = [rounded(sum(products[k * 7 : (k + 1) * 7]), size) for k in range(500)]
        of["dots of columns"] = [rounded(sum(products[k : 13 * 501 : 13]), size) for k in range(13)]


def double(mantissa, exponent):
    """The bits of mantissa * 2^exponent, which is an f64."""
    bits = rounded(Fraction(mantissa) * Fraction(2) ** exponent, 8)
    assert value(bits, 8) == Fraction(mantissa) * Fraction(2) ** exponent
    return bits


def near_the_edges():
    """Factors whose products are above or below all f64, cancel each other, or are ties."""
    one, least, greatest, ones = double(1, 0), double(1, -1074), double(2**53 - 1, 971), 2**53 - 1
    half, unit = [double(1, -538), double(1, -537)], [least, least]
    yield [half]
    yield [half, unit]
    yield [half, unit, [double(-1, -1074), least]]
    yield [half, [double(-1, -1074), least]]
    yield [half, [double(1, -537), double(1, -537)]]
    yield [[double(-1, -538), double(1, -537)]]
    yield [[double(-1, -538), double(1, -537)], [double(-1, -1074), least]]
    yield [unit] * 7
    yield [[double(2**52 - 1, -1074), double(1, -1)], [least, double(1, -1)]]
    yield [[greatest, greatest], [double(-ones, 971), greatest]]
    yield [[greatest, greatest], [double(-ones, 971), greatest], unit]
    yield [[greatest, greatest], unit, [double(-ones, 971), greatest], half]
    yield [[greatest, greatest], [double(-ones, 971), double(ones - 1, 971)]]
    yield [[greatest, greatest]] * 5
    yield [[double(-ones, 971), greatest]] * 5
    # Half of a unit above the greatest number is infinite, and anything less is not.
    yield [[greatest, one], [double(1, 485), double(1, 485)]]
    yield [[greatest, one], [double(1, 485), double(1, 485)], [double(-1, -1074), least]]
    yield [[greatest, one], [double(1, 484), double(1, 485)]]
    # Ties among normal numbers, and what decides them from far below.
    for last in [ones, ones - 1]:
        for sign in [-1, 0, 1]:
            tie = [[double(last, 0), one], [double(1, -30), double(1, 29)]]
            yield tie + ([[double(sign, -1074), least]] if sign else [])
    # Numbers at every place about the one where windows meet.
    for place in range(1990, 2112):
        of = [place // 2 - 1074, place - place // 2 - 1074]
        yield [[double(ones, of[0]), double(ones, of[1])], [double(-ones, of[0]), double(ones - 2, of[1])]]
        yield [[double(-ones, of[0]), double(ones, of[1])], [double(1, -1074), double(1, of[1])]]
    # Terms that cancel each other, among others.
    bits = f64_bits(80, 11, 0)
    for n in [10, 40]:
        pairs = [[a, b] for a, b in zip(bits[:n], bits[40 : 40 + n])]
        back = [[b ^ 1 << 63, a] for a, b in pairs]
        for rest in [[], [unit], [[least, double(-3, -1074)]], [half], [[double(3, -1), one]]]:
            yield pairs + rest + back[::-1]


fixtures["edges"] = [
    {"x": [a for a, _ in pairs], "y": [b for _, b in pairs], "dot": rounded(sum(value(a, 8) * value(b, 8) for a, b in pairs), 8)}
    for pairs in near_the_edges()
]

# NIST's Statistical Reference Datasets NumAcc1 to NumAcc4: the means of the f64 nearest to their numbers.
in_turns = [(1.2, 1.1, 1.3), (1000000.2, 1000000.1, 1000000.3), (10000000.2, 10000000.1, 10000000.3)]
NUM_ACC = [[10000001.0, 10000003.0, 10000002.0]] + [[first] + [below, above] * 500 for first, below, above in in_turns]
fixtures["means of NumAcc"] = [rounded(sum(map(Fraction, x)) / len(x), 8) for x in NUM_ACC]
json.dump(fixtures, open("exact.json", "w"), separators=(",", ":"))
