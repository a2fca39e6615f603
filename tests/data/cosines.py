"""Cosine transforms of the ramp 0, 1, 2, ... by FFTW in long double, as SciPy ships them (fftpack/tests/fftw_longdouble_ref.npz): writes cosines.json."""

import json
import pathlib
import numpy as np
import scipy

reference = np.load(pathlib.Path(scipy.__file__).parent / "fftpack/tests/fftw_longdouble_ref.npz")
rows = []
for kind in (1, 2):
    for n in sorted(int(name.split("_")[2]) for name in reference.files if name.startswith(f"dct_{kind}_")):
        values = reference[f"dct_{kind}_{n}"]
        bins = sorted({k * (n - 1) // 7 for k in range(8)})
        rows.append({"type": kind, "n": n, "bins": bins, "values": [float(values[k]) for k in bins]})
json.dump(rows, open("cosines.json", "w"), separators=(",", ":"))
