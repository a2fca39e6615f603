"""Writes xorwow.json: numbers of XORWOW as the headers of cuRAND and rocRAND compute them on the host, and as cuRAND's library does.

Needs g++; run in this folder: `python3 xorwow.py LIBRARY ROCRAND CUDA...`. LIBRARY is `libcurand.so.10`, whose generators of the host need no device; ROCRAND
is the folder that has `rocrand/rocrand_xorwow.h`; the others have `curand_kernel.h` and what it includes, as the wheels nvidia-curand-cu12,
nvidia-cuda-runtime-cu12, nvidia-cuda-nvcc-cu12 and nvidia-cuda-cccl-cu12 do.
"""

import ctypes
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

PLACES = [
    (0, 0, 0),
    (1, 0, 0),
    (0xFEDCBA9876543210, 0, 1),
    (1 << 32, 1, 0),
    (12345, 5, 31),
    (12345, 4095, 32),
    (7, 3, (1 << 32) + 5),
    (7, 1 << 40, (1 << 40) - 1),
    ((1 << 64) - 1, (1 << 64) - 1, (1 << 64) - 1),
]
WORDS = 40

PROGRAM = """
#include <cstdio>
#include <HEADER>
int main() {
    const unsigned long long places[][3] = {PLACES};
    for (auto& p : places) {
        STATE state;
        INIT(p[0], p[1], p[2], &state);
        for (int i = 0; i < WORDS; i++) std::printf("%u ", NEXT(&state));
        UNIFORMS
        std::puts("");
    }
}
"""

CURAND = {
    "HEADER": "curand_kernel.h",
    "STATE": "curandStateXORWOW_t",
    "INIT": "curand_init",
    "NEXT": "curand",
    # Floats of the numbers after those.
    "UNIFORMS": 'for (int i = 0; i < WORDS; i++) { float x = curand_uniform(&state); std::printf("%u ", *(unsigned*)&x); }',
}
ROCRAND = {
    "HEADER": "rocrand/rocrand_xorwow.h",
    "STATE": "rocrand_state_xorwow",
    "INIT": "rocrand_init",
    "NEXT": "rocrand",
    "UNIFORMS": "",
}


def printed(names, includes, flags=()):
    text = PROGRAM
    for name, value in names.items():
        text = text.replace(name, value)
    text = text.replace("PLACES", ", ".join("{%s}" % ", ".join(f"{x}ull" for x in place) for place in PLACES)).replace("WORDS", str(WORDS))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # Headers for HIP's compiler, of which the host's functions need these words only.
        (folder / "hip").mkdir()
        (folder / "hip/hip_runtime.h").write_text("#define __device__\n#define __host__\n#define __forceinline__ inline\n#define __global__\n")
        (folder / "main.cpp").write_text(text)
        includes = [f"-I{path}" for path in [*includes, folder]]
        subprocess.run(["g++", "-O1", "-w", *flags, *includes, folder / "main.cpp", "-o", folder / "main"], check=True)
        lines = subprocess.run([folder / "main"], check=True, capture_output=True, text=True).stdout.splitlines()
    return [[int(word) for word in line.split()] for line in lines]


def generated(library, function, seed, offset, n):
    generator, out = ctypes.c_void_p(), (ctypes.c_uint32 * n)()
    for name, *args in [
        ("curandCreateGeneratorHost", ctypes.byref(generator), 101),
        ("curandSetPseudoRandomGeneratorSeed", generator, ctypes.c_ulonglong(seed)),
        ("curandSetGeneratorOffset", generator, ctypes.c_ulonglong(offset)),
        (function, generator, out, ctypes.c_size_t(n)),
        ("curandDestroyGenerator", generator),
    ]:
        status = library[name](*args)
        assert status == 0, (name, status)
    return hashlib.sha256(bytes(out)).hexdigest()


library, rocrand, *cuda = sys.argv[1:]
cases = []
for (seed, subsequence, offset), ours, theirs in zip(PLACES, printed(CURAND, cuda), printed(ROCRAND, [rocrand])):
    place = {"seed": seed, "subsequence": subsequence, "offset": offset}
    cases.append(place | {"curand": ours[:WORDS], "curand_uniform": ours[WORDS:], "rocrand": theirs})
library = ctypes.CDLL(library)
digests = []
for seed, offset, n in [(0, 0, 5), (12345, 0, 300_001), (1 << 63, 4096 * 1_000_003, 70_000)]:
    call = {"seed": seed, "offset": offset, "n": n}
    names = {"words": "curandGenerate", "uniform": "curandGenerateUniform"}
    digests.append(call | {name: generated(library, function, seed, offset, n) for name, function in names.items()})
places, calls = (",\n".join(json.dumps(line) for line in lines) for lines in (cases, digests))
pathlib.Path("xorwow.json").write_text(f'{{"places": [\n{places}\n], "generated": [\n{calls}\n]}}\n')
