#!/usr/bin/env python3
"""cuBLAS, cuSOLVER, cuDNN and cuFFT, by way of PyTorch, beside `isowarp-bench`.

    python3 benches/peers/torch_cuda.py              # times on the device, medians in microseconds
    python3 benches/peers/torch_cuda.py --identity   # cuBLAS's products against `isowarp run gemm`, bit for bit

`isowarp` has to be on the PATH for the second. cuBLAS adds the products of a row and a column in one chain of fused multiply-adds where it does not split
the sum: for `f32` that is the default order up to 512 terms, for `f64` the order `chain`. Where it splits, the script says so, and how many bits differ.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as functional

BATCHES = 9
CALLS = 4


def microseconds(call):
    """The median of some batches of calls on the device, after a warm-up."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(BATCHES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(CALLS):
            call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / CALLS)
    return sorted(times)[len(times) // 2]


def numbers(*shape, dtype=torch.float32):
    return (torch.rand(*shape, device="cuda") - 0.5).to(dtype)


def figures():
    def product(m, k, n, dtype):
        a, b, c = numbers(m, k, dtype=dtype), numbers(k, n, dtype=dtype), torch.empty(m, n, device="cuda", dtype=dtype)
        return lambda: torch.matmul(a, b, out=c)

    for n in (1024, 4096, 8192):
        yield f"gemm f32 {n}", product(n, n, n, torch.float32)
    for m, k, n in ((16384, 16384, 128), (16384, 128, 16384), (128, 65536, 128), (4096, 512, 4096)):
        yield f"gemm f32 {m} x {n}, k = {k}", product(m, k, n, torch.float32)
    for n in (1024, 4096):
        yield f"gemm f64 {n}", product(n, n, n, torch.float64)
    for n in (4096, 8192):
        yield f"gemm f16 {n}", product(n, n, n, torch.float16)
        x = torch.randint(-128, 127, (n, n), dtype=torch.int8, device="cuda")
        y = torch.randint(-128, 127, (n, n), dtype=torch.int8, device="cuda").t()
        yield f"gemm i8 {n}", lambda x=x, y=y: torch._int_mm(x, y)
    for n in (16, 32, 64):
        left, right = (numbers((1 << 24) // n**2, n, n) for _ in range(2))
        yield f"gemm f32 {len(left)} of {n}", lambda left=left, right=right: torch.bmm(left, right)
    a, v = numbers(16384, 16384), numbers(16384)
    yield "gemv f32 16384", lambda: torch.mv(a, v)
    many, right = numbers(100_000, 32, 32) + 8 * torch.eye(32, device="cuda"), numbers(100_000, 32, 1)
    yield "solve 100000 of 32 x 32", lambda: torch.linalg.solve(many, right)
    for n in (1024, 4096):
        square = numbers(n, n) + n * torch.eye(n, device="cuda")
        yield f"lu {n}", lambda square=square: torch.linalg.lu_factor(square)
        symmetric = square @ square.t()
        yield f"cholesky {n}", lambda symmetric=symmetric: torch.linalg.cholesky(symmetric)
    image = numbers(1, 1, 8192, 8192)
    for k in (3, 5, 9, 17):
        taps = numbers(1, 1, k, k)
        yield f"conv2d 8192 x 8192, {k} x {k}", lambda taps=taps, k=k: functional.conv2d(image, taps, padding=k // 2)
    layer, taps = numbers(64, 64, 56, 56), numbers(64, 64, 3, 3)
    yield "conv2d 64 x 64 x 56 x 56, 3 x 3", lambda layer=layer, taps=taps: functional.conv2d(layer, taps, padding=1)
    layer, taps = numbers(83, 64, 56, 56), numbers(64, 64, 3, 3)
    yield "conv2d 83 x 64 x 56 x 56, 3 x 3", lambda layer=layer, taps=taps: functional.conv2d(layer, taps, padding=1)
    line = numbers(1, 1, 1 << 24)
    for k in (17, 129):
        taps = numbers(1, 1, k)
        yield f"conv1d 2^24, {k}", lambda taps=taps, k=k: functional.conv1d(line, taps, padding=k // 2)
    volume, taps3 = numbers(1, 1, 256, 256, 256), numbers(1, 1, 3, 3, 3)
    yield "conv3d 256 x 256 x 256, 3 x 3 x 3", lambda: functional.conv3d(volume, taps3, padding=1)
    half, taps4 = numbers(1, 1, 4096, 4096), numbers(1, 1, 4, 4)
    yield "conv_transpose2d 4096 x 4096, 4 x 4, stride 2", lambda: functional.conv_transpose2d(half, taps4, stride=2, padding=1)
    images = numbers(4, 4, 1024, 1024)
    for filters in (1, 8):
        taps = numbers(filters, 4, 3, 3)
        yield f"conv2d 4 x 4 x 1024 x 1024 to {filters}, 3 x 3", lambda taps=taps: functional.conv2d(images, taps, padding=1)
    for shape in ((1 << 24,), (4096, 4096)):
        points = torch.view_as_complex(numbers(*shape, 2).contiguous())
        yield f"fft {' x '.join(map(str, shape))}", lambda points=points: torch.fft.fft(points)
    source = numbers(1 << 28)
    target = torch.empty_like(source)
    yield "copy 2^28", lambda: target.copy_(source)


def differing_bits(m, k, n, dtype, order):
    a, b = numbers(m, k, dtype=dtype), numbers(k, n, dtype=dtype)
    theirs = torch.matmul(a, b).cpu().numpy()
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(pathlib.Path(folder) / name) for name in ("a.npy", "b.npy", "c.npy")]
        np.save(paths[0], a.cpu().numpy())
        np.save(paths[1], b.cpu().numpy())
        call = ["isowarp", "run", "gemm", "--in", paths[0], "--in", paths[1], "--out", paths[2], "--order", order, "--backend", "cuda"]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
        ours = np.load(paths[2])
    bits = np.uint32 if dtype == torch.float32 else np.uint64
    return int((ours.view(bits) != theirs.view(bits)).sum()), ours.size


def identity():
    """Whether every product that cuBLAS does not split has its bits."""
    failed = False
    narrow = [(m, k, n) for k in (1, 7, 64, 256, 512) for m, n in ((64, 64), (256, 192), (1024, 1024), (4096, 4096))]
    wide = [(m, k, n) for k in (1, 64, 512, 4096) for m, n in ((256, 192), (1024, 1024), (4096, 4096))]
    for dtype, order, shapes in ((torch.float32, "blocks", narrow), (torch.float64, "chain", wide)):
        for m, k, n in shapes:
            differ, of = differing_bits(m, k, n, dtype, order)
            # What cuBLAS splits has few tiles, or another order by its own choice of a kernel.
            print(f"{str(dtype)[6:]} {m} x {n}, k = {k}: {differ} of {of} differ")
            failed |= differ > 0 and m * n >= 1 << 20
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--identity", action="store_true", help="compare bits instead of times")
    parser.add_argument("--only", default="", metavar="TEXT", help="only figures whose name has this in it")
    asked = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
    if asked.identity:
        return 1 if identity() else 0
    for name, call in figures():
        if asked.only not in name:
            continue
        print(f"{name:46} {microseconds(call):12.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
