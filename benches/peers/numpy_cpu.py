"""Times NumPy beside the CPU backend: nanoseconds an element, of one thread and of all.

    cargo build --release -p isowarp-benches --no-default-features --bin isowarp-bench
    python3 benches/peers/numpy_cpu.py target/release/isowarp-bench --size 2^24 --threads 1 --threads 2

A figure is the fastest of several calls on either side, each measured in turn of the same run. NumPy uses one thread whatever it is given; results go
into arrays that are there wherever it takes one (`out=`).
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402


def works(n):
    """What is measured: the name in isowarp-bench, its element type, the same by NumPy, and NumPy's name for it."""
    rng = np.random.default_rng(1)
    x, y, out = rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32), np.empty(n, np.float32)
    u, out_u = rng.integers(0, 2**32, n, dtype=np.uint32), np.empty(n, np.uint32)
    u64, b = rng.integers(0, 2**63, n, dtype=np.uint64), rng.integers(0, 256, n, dtype=np.uint8)
    at = (np.arange(n, dtype=np.uint32) * np.uint32(0x9E3779B1)) % np.uint32(n)
    at = (at ^ (at >> 7)) % np.uint32(n)
    side = int(n**0.5)
    square, turned = x[: side * side].reshape(side, side), out[: side * side].reshape(side, side)

    def axpy():
        np.multiply(x, np.float32(1.5), out=out)
        np.add(out, y, out=out)

    def scatter():
        out[at] = x

    def sine():
        np.multiply(x, np.float32(6.0), out=out)
        np.sin(out, out=out)

    return [
        ("copy", "f32", lambda: np.copyto(out, x), "copyto"),
        ("map/axpy", "f32", axpy, "multiply, add"),
        ("map/exp", "f32", lambda: np.exp(x, out=out), "exp"),
        ("map/sin", "f32", sine, "multiply, sin"),
        ("reduce/sum", "f32", lambda: x.sum(), "sum"),
        ("reduce/argmin", "f32", lambda: x.argmin(), "argmin"),
        ("scan/inclusive", "f32", lambda: np.cumsum(x, out=out), "cumsum"),
        ("scan/inclusive", "u32", lambda: np.cumsum(u, out=out_u, dtype=np.uint32), "cumsum"),
        ("select/half", "f32", lambda: x[x < 0.5], "x[x < 0.5]"),
        ("sort/keys", "u32", lambda: np.sort(u), "sort"),
        ("sort/keys", "f32", lambda: np.sort(x), "sort"),
        ("sort/keys", "u64", lambda: np.sort(u64), "sort"),
        ("sort/argsort", "u32", lambda: np.argsort(u, kind="stable"), "argsort, stable"),
        ("sort/top_k", "u32", lambda: np.partition(u, n - 1000)[n - 1000 :], "partition"),
        ("histogram/even", "u8", lambda: np.bincount(b, minlength=256), "bincount"),
        ("histogram/even", "f32", lambda: np.histogram(x, 256, (0, 1)), "histogram"),
        ("move/gather", "f32", lambda: np.take(x, at, out=out, mode="clip"), "take"),
        ("move/scatter_unique", "f32", scatter, "out[i] = x"),
        ("move/transpose", "f32", lambda: np.copyto(turned, square.T), "copyto of .T"),
    ]


def fastest(f, samples):
    f()
    times = []
    for _ in range(samples):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)


def ours(program, name, size, threads, samples):
    """Seconds of a pattern on the CPU backend, by element type."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ours.json")
        run = [program, "run", "--backend", "cpu", "--pattern", name, "--size", size, "--samples", str(samples), "--json", path]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "RAYON_NUM_THREADS": str(threads)})
        with open(path) as file:
            return {m["dtype"]: m["device_range_s"][0] for m in json.load(file)["measured"] if m["name"] == name}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="isowarp-bench")
    parser.add_argument("--size", default="2^24")
    parser.add_argument("--threads", type=int, action="append", help="of ours; may be given several times")
    parser.add_argument("--samples", type=int, default=7)
    parser.add_argument("--only", action="append", help="names that start so")
    args = parser.parse_args()
    threads = args.threads or [1, os.cpu_count()]
    base, _, power = args.size.partition("^")
    n = int(base) ** int(power or 1)
    with open("/proc/cpuinfo") as file:
        model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    print(f"{model}, NumPy {np.__version__}, {args.size} elements, ns an element, fastest of {args.samples}\n")
    print("| pattern | NumPy | | " + " | ".join(f"ours, {t} thread{'s' * (t > 1)}" for t in threads) + " |")
    print("|---|---|---:|" + "---:|" * len(threads))
    done = {}
    for name, dtype, numpy, what in works(n):
        if args.only and not any(name.startswith(o) for o in args.only):
            continue
        if name not in done:
            done[name] = [ours(args.program, name, args.size, t, args.samples) for t in threads]
        theirs = fastest(numpy, args.samples) / n * 1e9
        mine = [f"{of[dtype] / n * 1e9:.2f} ({theirs / (of[dtype] / n * 1e9):.1f} x)" for of in done[name]]
        print(f"| {name} {dtype} | {what} | {theirs:.2f} | " + " | ".join(mine) + " |", flush=True)


if __name__ == "__main__":
    main()
