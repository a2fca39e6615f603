"""Cases of files as NumPy and others may write them: orders of bytes and axes, short headers, archives."""
import struct

import numpy as np


def header(name, text, elements, version=1):
    """A header of one's own, without NumPy's padding."""
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    with open(f"{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY" + bytes([version, 0]) + size + text.encode() + elements.tobytes())


def write(save, case, rng):
    copy = lambda name, wanted: case(name, ["map", "--in", f"{name}.npy", "--op", "x"], wanted)
    for code in ["f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8"]:
        values = rng.integers(0, 30_000, (3, 4)).astype(f"<{code}")
        save(f"big_{code}", values.astype(f">{code}"))
        copy(f"big_{code}", values)
    shapes = [("line", (7,)), ("column", (7, 1)), ("square", (3, 5)), ("cube", (2, 3, 4)), ("four", (3, 1, 2, 5)), ("none", (3, 0, 2))]
    for name, shape in shapes:
        for code in ["u1", "i2", "f4", "f8"]:
            values = rng.integers(0, 200, shape).astype(f"<{code}")
            save(f"fortran_{name}_{code}", np.asfortranarray(values))
            copy(f"fortran_{name}_{code}", values)
    turned = rng.integers(0, 200, (4, 6)).astype("<i4")
    save("fortran_big", np.asfortranarray(turned.astype(">i4")))
    copy("fortran_big", turned)
    truth = turned > 100
    save("fortran_truth", np.asfortranarray(truth))
    case("fortran_truth_not", ["map", "--in", "fortran_truth.npy", "--op", "!x"], ~truth)
    # Rows are what they are in the array, at once and in chunks.
    case("fortran_sort", ["sort", "--in", "fortran_big.npy"], np.sort(turned, axis=-1))
    case("fortran_sort_chunks", ["sort", "--in", "fortran_big.npy", "--chunk-size", "24"], np.sort(turned, axis=-1))
    line = np.arange(5, dtype="<f4") - 2
    for name, text, version in [
        ("short", "{'descr':'<f4','fortran_order':False,'shape':(5,)}", 1),
        ("short_two", "{'shape': (5,), 'fortran_order': True, 'descr': '<f4'}", 2),
        ("python_two", "{'descr': '<f4', 'fortran_order': False, 'shape': (5L,), }\n", 1),
    ]:
        header(f"header_{name}", text, line, version)
        copy(f"header_{name}", line)
    header("header_python_two_rows", "{'descr': '>i4', 'fortran_order': True, 'shape': (4L, 6L), }", np.asfortranarray(turned.astype(">i4")).T)
    copy("header_python_two_rows", turned)
    np.savez("stored.npz", line, turned=turned, truth=truth)
    np.savez_compressed("deflated.npz", line, turned=np.asfortranarray(turned), **{"inner/name": truth})
    for archive in ["stored", "deflated"]:
        case(f"{archive}_line", ["map", "--in", f"{archive}.npz/arr_0", "--op", "x"], line)
        case(f"{archive}_turned", ["sort", "--in", f"{archive}.npz/turned.npy", "--chunk-size", "24"], np.sort(turned, axis=-1))
    case("deflated_inner", ["reduce", "--in", "deflated.npz/inner/name", "--op", "any"], np.array([truth.any()]))
