#!/usr/bin/env python3
"""Writes inputs of the command's tests that are bool files, or files as NumPy writes them on other machines, and what NumPy makes of them (tested
with NumPy 2.4). `archive.py` runs it, after `make.py`. `files.json` lists the cases as `oracle.json` does.
"""
import json

import numpy as np

import bools
import files

cases = []
wanted = {}


def save(name, array):
    np.save(f"{name}.npy", array)
    return f"{name}.npy"


def case(name, args, expected):
    """Equal arrays have one file."""
    expected = np.asarray(expected)
    of = (expected.dtype.str, expected.shape, expected.tobytes())
    if of not in wanted:
        wanted[of] = save(f"want_{name}", expected)
    cases.append({"name": name, "args": args, "expected": wanted[of]})


bools.write(save, case, np.load("x_f4.npy"))
files.write(save, case, np.random.default_rng(20251125))
with open("files.json", "w") as f:
    json.dump(cases, f, indent=1)
    f.write("\n")
