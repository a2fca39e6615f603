#!/usr/bin/env python3
"""Writes image files as other programs write them into `images.zip` (Pillow 13, NumPy 2.4). Run it anywhere.

whole.jpg, cut_half.jpg, exif6.jpg, apng3.png and bleed.png came with reports of faults: they are not made here, and stay as they are in the archive.
"""
import os
import pathlib
import tempfile
import zipfile

import numpy as np
from PIL import Image, ImageCms, PngImagePlugin

archive = pathlib.Path(__file__).resolve().parent / "images.zip"
folder = tempfile.TemporaryDirectory()
with zipfile.ZipFile(archive) as present:
    present.extractall(folder.name)
os.chdir(pathlib.Path(folder.name) / "images")

W, H = 12, 8
y, x = np.mgrid[0:H, 0:W]
rgb = np.stack([(x * 21 + y * 3) % 256, (y * 31 + x) % 256, (x * y * 5 + 40) % 256], -1).astype(np.uint8)
deep = (rgb.astype(np.uint16) * 257 + x[..., None] * 3 + y[..., None]).astype(np.uint16)
upright = Image.fromarray(rgb)
upright.save("upright.png")

# Each is stored so that its orientation turns it upright.
TURNS = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: a[::-1].transpose(1, 0, 2)[::-1, ::-1],
    7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
    8: lambda a: a[:, ::-1].transpose(1, 0, 2)[::-1, ::-1],
}
for k, turn in TURNS.items():
    exif = Image.Exif()
    exif[0x112] = k
    stored = Image.fromarray(np.ascontiguousarray(turn(rgb)))
    stored.save(f"orientation_{k}.png", exif=exif)
    if k == 6:
        stored.save("orientation_6.webp", exif=exif, lossless=True)
        stored.save("orientation_6.tiff", tiffinfo={0x112: k})

smooth = Image.fromarray(np.stack([x * 8 + y, y * 9 + 60, 200 - x * 5], -1).astype(np.uint8).repeat(4, 0).repeat(4, 1))
smooth.save("progressive.jpg", progressive=True, quality=90)
smooth.save("restarts.jpg", restart_marker_blocks=2, quality=90)
smooth.save("baseline.jpg", quality=90)

# Further pictures.
other = Image.fromarray(255 - rgb)
upright.quantize(64).save("animated.gif", save_all=True, append_images=[other.quantize(64)], duration=100)
upright.save("animated.webp", save_all=True, append_images=[other], lossless=True)
upright.save("pages.tiff", save_all=True, append_images=[other])

# One picture in every format.
upright.save("still.webp", lossless=True)
upright.save("still.bmp", dpi=(300, 300))
upright.save("still.tiff", compression="tiff_lzw", dpi=(300, 300))
Image.fromarray(rgb // 64 * 64).quantize(256).save("still.gif")
Image.fromarray(rgb // 64 * 64).save("still_gif.png")
Image.fromarray(deep[..., 0]).save("deep_grey.png")
Image.fromarray(deep[..., 0]).save("deep_grey.tiff")
np.save("deep_grey.npy", deep[..., 0])

# What is beside the pixels.
profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
open("srgb.icc", "wb").write(profile)
upright.save("icc.png", icc_profile=profile, dpi=(300, 300))
upright.save("icc.jpg", icc_profile=profile, dpi=(300, 300), quality=95)
chunks = PngImagePlugin.PngInfo()
chunks.add(b"gAMA", (100_000).to_bytes(4, "big"))
upright.save("gamma.png", pnginfo=chunks)
Image.fromarray(np.concatenate([rgb, rgb[..., :1]], -1), "CMYK").save("inks.jpg", icc_profile=profile)

with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as new:
    for file in sorted(pathlib.Path().iterdir()):
        entry = zipfile.ZipInfo(f"images/{file.name}")
        entry.external_attr = 0o644 << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        new.writestr(entry, file.read_bytes(), compresslevel=9)
os.chdir(archive.parent)
