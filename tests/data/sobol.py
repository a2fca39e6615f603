"""Writes sobol.json: digests of all direction numbers of SciPy's Sobol sequence, and normal quantiles of words by mpmath.

Needs SciPy and mpmath; run in this folder: `python3 sobol.py`. SciPy's table is checked against its points, and the quantiles against SciPy's.
"""

import hashlib
import json

import mpmath
import numpy as np
import scipy
from scipy.stats import norm, qmc

DIMENSIONS = 1024
TOGETHER = 64

# A row to a dimension, the direction of the highest bit first.
table = np.asarray(qmc.Sobol(DIMENSIONS, scramble=False, bits=32)._sv)
assert table.shape == (DIMENSIONS, 32) and table.max() < 1 << 32
directions = table.astype("<u4")
points = (qmc.Sobol(DIMENSIONS, scramble=False, bits=32).random(1 << 10) * 2**32).astype(np.uint64)
for i in range(1, 1 << 10):
    gray = i ^ i >> 1
    taken = [bit for bit in range(32) if gray >> bit & 1]
    assert (np.bitwise_xor.reduce(directions[:, taken], axis=1) == points[i]).all(), i
digests = [hashlib.sha256(part.tobytes()).hexdigest() for part in np.split(directions, DIMENSIONS // TOGETHER)]


def words():
    """The ends, the middle, and probabilities of 2^-24 and of powers of ten, and about where a logarithm of 4 p (1 - p) is -5, all from both ends."""
    lower = [0, 1, 2, 3, 5, 10, 100, 254, 255, 256, 257, 1000, 65535, 65536]
    lower += [int(p * 2**32) + by for p in (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.25, 0.4, 0.49, 0.4999) for by in (-1, 0, 1)]
    switch = int((1 - mpmath.sqrt(1 - mpmath.exp(-5))) / 2 * 2**32)
    lower += [switch + by for by in (-100_000, -1000, -100, -2, -1, 0, 1, 2, 100, 1000, 100_000)]
    lower += [(1 << 31) - by for by in (1, 2, 3, 129, 1000)]
    # The words with the largest errors of isowarp's f32, and their neighbours, of a search through all.
    lower += [word + by for word in (139_551, 157_503, 159_231, 2_666_496) for by in (-1, 0, 1)]
    # As many words in every octave.
    lower += [(1 << k) + (by * 0x9E3779B9 & (1 << k) - 1) for k in range(4, 31) for by in (k, 3 * k)]
    return sorted(set(lower))


def quantile(word):
    """The standard normal quantile of (word + 1/2) 2^-32."""
    p = (mpmath.mpf(word) + 0.5) / 2**32
    z = mpmath.findroot(lambda z: mpmath.ncdf(z) / p - 1, norm.ppf(float(p)))
    assert abs(mpmath.ncdf(z) / p - 1) < mpmath.mpf(10) ** -40
    assert abs(z / norm.ppf(float(p)) - 1) < 1e-11, word
    return float(z)


mpmath.mp.dps = 60
found = {
    "made by": f"SciPy {scipy.__version__}, mpmath {mpmath.__version__}",
    "dimensions of a digest": TOGETHER,
    "directions": digests,
}
# Upper words are the lower ones' complements.
lines = ",\n".join(json.dumps([word, quantile(word)]) for word in words())
open("sobol.json", "w").write(f'{json.dumps(found, indent=1)[:-2]},\n "quantiles": [\n{lines}\n]}}\n')
