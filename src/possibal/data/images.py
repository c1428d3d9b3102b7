"""Image descriptor: 8x8 luminance thumbnail, 64-bin RGB histogram (Hellinger), 4x4x8 HOG.

It needs no trained network. Whoever has features of one hands them in as an array instead.
"""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from joblib import Parallel, delayed
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.ExifTags import Base

from possibal.arrays import Array, Matrix, Vector
from possibal.data.decoding import Progress
from possibal.errors import summary

TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
}
"""Endings of pictures, and their media types."""
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
MOST_CLASSES = 50
"""More folders than these are no classes."""
MOST_BYTES = 50_000_000
MOST_PIXELS = 40_000_000
"""Larger pictures are refused: unpacked, one could fill the memory."""

SIDE, THUMBNAIL = 64, 8
"""Pixels along the side of the picture that is described, and of its thumbnail."""
GRID, DIRECTIONS, SHADES = 4, 8, 4
"""Cells of the HOG along a side, its orientation bins, and histogram bins of each channel."""
LUMA = np.array([0.299, 0.587, 0.114])
"""Weights of red, green and blue in luminance (ITU-R BT.601)."""
FAINT = 0.05
"""Added to the norm of a HOG cell in quadrature: noise has directions too."""
BLOCKS = (THUMBNAIL**2, SHADES**3, GRID**2 * DIRECTIONS)
"""Lengths of the thumbnail, the histogram and the HOG."""
WEIGHTS = (0.5, 2.0, 0.5)
"""Weights of the three, so that none dominates the distance."""


# ---------------------------------------------------------------- files
@dataclass(frozen=True)
class ImageFolder:
    """The pictures of a folder and of all folders in it.

    Attributes:
        names: paths from the folder, with forward slashes, in order.
        others: how many files are no pictures by their ending.
        leaving: how many are links that lead out of the folder, or nowhere.
    """

    names: tuple[str, ...]
    others: int
    leaving: int


def list_images(folder: Path) -> ImageFolder:
    """The pictures below a folder; hidden files and folders do not count."""
    names, others, leaving = list[str](), 0, 0
    root = folder.resolve()
    for at, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for file in (name for name in files if not name.startswith(".")):
            path = Path(at, file)
            if path.suffix.lower() not in TYPES:
                others += 1
            elif not _is_within(root, path):
                leaving += 1
            else:
                names.append(path.relative_to(root).as_posix())
    return ImageFolder(tuple(sorted(names)), others, leaving)


def folder_labels(names: Sequence[str]) -> tuple[str, ...] | None:
    """The label of each picture where folders are classes, as in ants/1.jpg; else None.

    Args:
        names: paths from the folder. All must lie in its own folders and none deeper, and there
            must be at least 2 and at most `MOST_CLASSES` of these.
    """
    parts = [name.split("/") for name in names]
    if any(len(one) != 2 for one in parts):  # noqa: PLR2004 - a folder and a name
        return None
    labels = tuple(folder for folder, _ in parts)
    return labels if 2 <= len(set(labels)) <= MOST_CLASSES else None  # noqa: PLR2004 - a choice


def _is_within(root: Path, path: Path) -> bool:
    """Whether a path is a file in a folder also when links are followed."""
    try:
        return path.resolve().is_relative_to(root) and path.is_file()
    except (OSError, RuntimeError):
        return False


def resolve_image(folder: Path, name: str, where: str = "") -> Path:
    """The path of a picture in a folder, or one sentence if it is none or leads out of it.

    Args:
        folder: where pictures may be.
        name: the path from there.
        where: who asks for it, to be said in the sentence.
    """
    root, got = folder.resolve(), f"{name!r}{where and f' in {where}'}"
    try:
        path = (root / name).resolve()
        found = path.is_file()
    except (OSError, ValueError, RuntimeError):  # a name too long, or links that go in circles
        path, found = root, False
    if Path(name).is_absolute() or not path.is_relative_to(root):
        raise ValueError(
            f"image must be a path inside the folder {folder.name!r}; got {got}. "
            "Move the picture there, and write its path from that folder."
        )
    if not found:
        raise ValueError(
            f"image must be a file in the folder {folder.name!r}; got {got}, which is none. "
            "Check its name."
        )
    if path.suffix.lower() not in TYPES or Path(name).suffix.lower() not in TYPES:
        raise ValueError(
            f"image must be a file that ends in {', '.join(TYPES)}; got {got}. "
            "Save it as one of these."
        )
    return path


# ---------------------------------------------------------------- numbers
def describe(folder: Path, names: Sequence[str], progress: Progress) -> Matrix:
    """(pictures, numbers): the descriptor of each picture, computed by a pool of threads.

    Args:
        folder: where the pictures are.
        names: their paths from the folder.
        progress: given the share done.
    """
    lines = list[Vector]()
    # Threads are enough: Pillow unpacks and shrinks without holding the others up.
    work = Parallel(n_jobs=-1, prefer="threads", return_as="generator")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters is refused, with its file's name
        for line in work(delayed(_described)(folder, name) for name in names):
            lines.append(cast("Vector", line))
            progress(len(lines) / len(names))
    return np.array(lines).reshape(len(names), sum(BLOCKS))


def _described(folder: Path, name: str) -> Vector:
    """The descriptor of one picture."""
    pixels = _pixels(resolve_image(folder, name), name)
    parts = _thumbnail(pixels), _histogram(pixels), _hog(pixels)
    return np.concatenate([weight * part for weight, part in zip(WEIGHTS, parts, strict=True)])


def _pixels(path: Path, name: str) -> Array:
    """(SIDE, SIDE, 3): the picture, upright, resized, with values from 0 to 1."""
    if path.stat().st_size > MOST_BYTES:
        raise _refused(f"of at most {MOST_BYTES // 10**6} MB", name, f"{path.stat().st_size} bytes")
    try:
        with Image.open(path, formats=FORMATS) as picture:
            width, height = picture.size
            if width * height <= MOST_PIXELS:
                return _resized(picture)
    except Image.DecompressionBombError:
        width = height = 0
    except UnidentifiedImageError:
        raise _refused("that can be read", name, "it is no picture") from None
    except Exception as error:  # noqa: BLE001 - decoders fail in as many ways as files
        raise _refused("that can be read", name, summary(error)) from None
    size = f"{width} x {height}" if width else "many times more"
    raise _refused(f"of at most {MOST_PIXELS // 10**6} million points", name, size)


def _refused(rule: str, name: str, reason: str) -> ValueError:
    """The sentence about a picture that cannot be used."""
    return ValueError(
        f"image must be a picture {rule}; got {name!r} ({reason}). Replace it, or take it out."
    )


def _resized(picture: Image.Image) -> Array:
    """The picture at the size that is described; what is transparent is white."""
    picture.draft("RGB", (2 * SIDE, 2 * SIDE))  # JPEG alone can: it unpacks fewer points
    orientation, whole = _orientation(picture), picture
    if picture.mode.startswith("I"):  # 16 bits of grey
        values = np.asarray(picture, dtype=float)
        whole = Image.fromarray((values.clip(0, 65535) / 257).astype(np.uint8))
    if picture.has_transparency_data:
        clear = picture.convert("RGBA")
        white = Image.new("RGBA", clear.size, "white")
        whole = Image.alpha_composite(white, clear)
    small = whole.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR, reducing_gap=2.0)
    small.info.clear()
    small.getexif()[Base.Orientation] = orientation
    ImageOps.exif_transpose(small, in_place=True)
    return np.asarray(small, dtype=float) / 255


def _orientation(picture: Image.Image) -> int:
    """The EXIF orientation; broken EXIF says nothing."""
    try:
        return int(picture.getexif().get(Base.Orientation, 1))
    except Exception:  # noqa: BLE001 - EXIF fails in as many ways as files, and spoils no picture
        return 1


def _thumbnail(pixels: Array) -> Vector:
    """Mean luminance of each cell of a coarse grid."""
    part = SIDE // THUMBNAIL
    cells = (pixels @ LUMA).reshape(THUMBNAIL, part, THUMBNAIL, part)
    return cells.mean(axis=(1, 3)).ravel()


def _histogram(pixels: Array) -> Vector:
    """Square roots of an RGB histogram, whose Euclidean distance is the Hellinger distance."""
    steps = np.minimum((pixels * SHADES).astype(np.intp), SHADES - 1)
    places = np.ravel_multi_index(tuple(steps.reshape(-1, 3).T), (SHADES,) * 3)
    return np.sqrt(np.bincount(places, minlength=SHADES**3) / SIDE**2)


def _hog(pixels: Array) -> Vector:
    """Histogram of oriented gradients (unsigned), each cell normalised by its own norm."""
    down, right = np.gradient(pixels @ LUMA)
    angle = np.arctan2(down, right) % np.pi / np.pi
    direction = np.minimum((angle * DIRECTIONS).astype(np.intp), DIRECTIONS - 1)
    part = np.arange(SIDE) // (SIDE // GRID)
    places = (part[:, None] * GRID + part) * DIRECTIONS + direction
    strength = np.hypot(down, right) / (SIDE // GRID) ** 2
    sums = np.bincount(places.ravel(), strength.ravel(), GRID**2 * DIRECTIONS)
    parts = sums.reshape(GRID**2, DIRECTIONS)
    return (parts / np.hypot(np.linalg.norm(parts, axis=1, keepdims=True), FAINT)).ravel()
