"""Convolutions by SciPy and NumPy: whole numbers exactly, others in double precision with bounds of the errors of sums. Writes convolutions.json."""

import json
import numpy as np
from scipy import ndimage, signal


def uniform(n, seed):
    out = np.empty(n)
    for i in range(n):
        seed = (seed * 1664525 + 1013904223) % 2**32
        out[i] = (seed >> 8) / 8388608 - 1
    return out


def bytes_of(n, seed):
    return np.floor((uniform(n, seed) + 1) * 128).astype(np.int64)


def taps_of(n, seed):
    return np.floor(uniform(n, seed) * 16).astype(np.int64)


MODES = {"clamp": "nearest", "zero": "constant", "mirror": "mirror", "wrap": "wrap"}

# Correlations of whole numbers that keep the image's extents.
borders = []
for image, taps in [((13,), (5,)), ((9, 14), (3, 5)), ((3, 4), (7, 5)), ((5, 6, 7), (3, 3, 5))]:
    x = bytes_of(int(np.prod(image)), 1).reshape(image)
    w = taps_of(int(np.prod(taps)), 2).reshape(taps)
    for ours, mode in MODES.items():
        y = ndimage.correlate(x, w, mode=mode, cval=0)
        borders.append({"image": image, "taps": taps, "border": ours, "y": [int(v) for v in y.ravel()]})

# Layers: windows that stay in the padded image, as products of whole numbers.
layers = []
for batch, channels, image, filters, groups, taps, stride, dilation, padding in [
    (1, 1, (32, 32), 6, 1, (5, 5), (1, 1), (1, 1), (0, 0)),
    (1, 6, (14, 14), 16, 1, (5, 5), (1, 1), (1, 1), (0, 0)),
    (2, 4, (9, 11), 6, 2, (3, 2), (2, 3), (2, 1), (1, 2)),
]:
    x = bytes_of(batch * channels * int(np.prod(image)), 3).reshape(batch, channels, *image)
    w = taps_of(filters * channels // groups * int(np.prod(taps)), 4).reshape(filters, channels // groups, *taps)
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding])
    spans = [d * (t - 1) + 1 for d, t in zip(dilation, taps)]
    v = np.lib.stride_tricks.sliding_window_view(x, spans, axis=(2, 3))
    v = v[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    of = channels // groups
    y = np.concatenate(
        [np.einsum("bcyxuv,ocuv->boyx", v[:, g * of : (g + 1) * of], w[g * filters // groups : (g + 1) * filters // groups]) for g in range(groups)],
        axis=1,
    )
    layer = {"batch": batch, "channels": channels, "image": image, "filters": filters, "groups": groups}
    layer |= {"taps": taps, "stride": stride, "dilation": dilation, "padding": padding, "y": [int(i) for i in y.ravel()]}
    layers.append(layer)

# Correlations of floats without padding. Each term takes part in at most 512 roundings of its chain and one of each block after it.
floats = []
for image, taps in [((300,), (21,)), ((20, 31), (4, 7)), ((40, 41), (33, 35)), ((9, 10, 11), (2, 3, 4))]:
    x = uniform(int(np.prod(image)), 5).reshape(image)
    w = uniform(int(np.prod(taps)), 6).reshape(taps)
    y = signal.correlate(x.astype(np.longdouble), w.astype(np.longdouble), mode="valid", method="direct")
    sizes = signal.correlate(abs(x), abs(w), mode="valid", method="direct").max()
    bound = float(sizes) * (min(w.size, 512) + -(-w.size // 512)) * 2.0**-24
    floats.append({"image": image, "taps": taps, "bound": bound, "y": [float(v) for v in y.ravel()]})

# Full convolutions. The error of transforms is relative to the norms of both.
fourier = []
for image, taps in [((100,), (37,)), ((17, 23), (5, 8)), ((6, 7, 5), (3, 2, 4))]:
    x = uniform(int(np.prod(image)), 7).reshape(image)
    w = uniform(int(np.prod(taps)), 8).reshape(taps)
    case = {"image": image, "taps": taps, "norms": float(np.linalg.norm(x) * np.linalg.norm(w))}
    y = signal.convolve(x.astype(np.longdouble), w.astype(np.longdouble), mode="full", method="direct")
    case["full"] = [float(v) for v in y.ravel()]
    n, t = bytes_of(x.size, 9).reshape(image), taps_of(w.size, 10).reshape(taps)
    for mode in ["full", "same", "valid"]:
        case["whole_" + mode] = [int(v) for v in signal.convolve(n, t, mode=mode, method="direct").ravel()]
    fourier.append(case)

# A blur across, then down.
x, across, down = uniform(15 * 22, 11).reshape(15, 22), uniform(5, 12), uniform(3, 13)
separable = []
for ours, mode in MODES.items():
    y = ndimage.correlate1d(ndimage.correlate1d(x, across, axis=1, mode=mode), down, axis=0, mode=mode)
    separable.append({"border": ours, "y": [float(v) for v in y.ravel()]})

everything = {"borders": borders, "layers": layers, "floats": floats, "fourier": fourier, "separable": separable}
json.dump(everything, open("convolutions.json", "w"))
