"""Writes mrg.json: numbers of MRG32k3a as the headers of cuRAND compute them on the host.

Needs g++; run in this folder: `python3 mrg.py CUDA...`. The folders have `curand_kernel.h` and what it includes, as the wheels nvidia-curand-cu12,
nvidia-cuda-runtime-cu12, nvidia-cuda-nvcc-cu12 and nvidia-cuda-cccl-cu12 do.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

PLACES = [
    (0, 0, 0),
    (1, 0, 0),
    (0x55555555, 1, 0),
    (0xFEDCBA9876543210, 0, 1),
    (1 << 32, 1, 0),
    (12345, 5, 31),
    (7, 3, (1 << 32) + 5),
    (7, 1 << 40, (1 << 40) - 1),
    # A stream has 2^51 subsequences: of further ones cuRAND makes zeros.
    ((1 << 64) - 1, (1 << 51) - 1, (1 << 64) - 1),
]
WORDS = 40

PROGRAM = """
#include <cstdio>
#include <curand_kernel.h>
int main() {
    const unsigned long long places[][3] = {PLACES};
    for (auto& p : places) {
        curandStateMRG32k3a_t state;
        curand_init(p[0], p[1], p[2], &state);
        for (int i = 0; i < WORDS; i++) std::printf("%.0f ", curand_MRG32k3a(&state));
        std::puts("");
    }
}
"""

text = PROGRAM.replace("PLACES", ", ".join("{%s}" % ", ".join(f"{x}ull" for x in place) for place in PLACES)).replace("WORDS", str(WORDS))
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    (folder / "main.cpp").write_text(text)
    includes = [f"-I{path}" for path in sys.argv[1:]]
    subprocess.run(["g++", "-O1", "-w", *includes, folder / "main.cpp", "-o", folder / "main"], check=True)
    lines = subprocess.run([folder / "main"], check=True, capture_output=True, text=True).stdout.splitlines()
names = ("seed", "subsequence", "offset")
cases = [dict(zip(names, place)) | {"words": [int(word) for word in line.split()]} for place, line in zip(PLACES, lines, strict=True)]
places = ",\n".join(json.dumps(case) for case in cases)
pathlib.Path("mrg.json").write_text(f"[\n{places}\n]\n")
