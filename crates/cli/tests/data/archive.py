#!/usr/bin/env python3
"""Makes the arrays of the command's tests anew: runs `make.py` and `make_files.py` in a folder of their own, and puts what they write into
`arrays.zip` and the tables beside it. Run it anywhere, with NumPy 2.4. What has not changed gives the same bytes.
"""
import os
import pathlib
import runpy
import shutil
import sys
import tempfile
import zipfile

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for script in ["make.py", "make_files.py"]:
        runpy.run_path(str(here / script))
    for table in ["oracle.json", "files.json"]:
        shutil.copyfile(table, here / table)
    with zipfile.ZipFile(here / "arrays.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for array in sorted(pathlib.Path().glob("*.np[yz]")):
            entry = zipfile.ZipInfo(array.name)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, array.read_bytes(), compresslevel=9)
    os.chdir(here)
