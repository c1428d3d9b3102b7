"""Image descriptor: 8x8 luminance thumbnail, 64-bin RGB histogram (Hellinger), 4x4x8 HOG.

It needs no trained network. Whoever has features of one hands them in as an array instead.
"""

import math
import os
import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.ExifTags import Base

from possibal.arrays import Array, Matrix, Vector
from possibal.data.decoding import Progress
from possibal.embedding.embedder import ImageInput
from possibal.errors import summary

Found = TypeVar("Found")

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
BLOCK = 64
"""Pictures that are decoded at a time; so many are in memory at most."""
OVERSAMPLING = 2.0
"""A picture is unpacked and roughly reduced to so many times the size that is wanted."""

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


# ---------------------------------------------------------------- decoding
def decoded(
    folder: Path, names: Sequence[str], wanted: ImageInput
) -> Generator[Image.Image | ValueError]:
    """Pictures in the order of their names, or the sentence on why there is none.

    A pool of threads decodes a block at a time while nobody waits for more than that.

    Args:
        folder: where the pictures are.
        names: their paths from the folder.
        wanted: the size that they are resized to, and what of them is kept.
    """
    block = BLOCK if wanted.size else None
    return _each(lambda name: decode(resolve_image(folder, name), name, wanted), names, block)


def decode(path: Path, name: str, wanted: ImageInput) -> Image.Image:
    """The picture of a file in RGB, upright, cropped and resized; what is transparent is white.

    Args:
        path: of the file.
        name: what to call it in the sentence that refuses it.
        wanted: the size that it is resized to, and what of it is kept.
    """
    return _opened(path, name, lambda picture: _prepared(picture, wanted))


def shrink(path: Path, name: str, side: int) -> Image.Image:
    """The same in its own shape, with at most so many points on its longer side."""
    return _opened(path, name, lambda picture: _shrunk(picture, side))


def _opened(path: Path, name: str, work: Callable[[Image.Image], Image.Image]) -> Image.Image:
    """What comes of an open picture, or one sentence if it is too large or none."""
    _check_bytes(path, name)
    try:
        with Image.open(path, formats=FORMATS) as picture:
            width, height = picture.size
            if width * height <= MOST_PIXELS:
                return work(picture)
    except Image.DecompressionBombError:
        width = height = 0
    except UnidentifiedImageError:
        raise _refused("that can be read", name, "it is no picture") from None
    except Exception as error:  # noqa: BLE001 - decoders fail in as many ways as files
        raise _refused("that can be read", name, summary(error)) from None
    size = f"{width} x {height}" if width else "many times more"
    raise _refused(f"of at most {MOST_PIXELS // 10**6} million points", name, size)


def _check_bytes(path: Path, name: str) -> None:
    """Refuse a file that is too large to be a picture."""
    try:
        size = path.stat().st_size
    except OSError as error:  # it was there a moment ago
        raise _refused("that can be read", name, summary(error)) from None
    if size > MOST_BYTES:
        raise _refused(f"of at most {MOST_BYTES // 10**6} MB", name, f"{size} bytes")


def _refused(rule: str, name: str, reason: str) -> ValueError:
    """The sentence about a picture that cannot be used."""
    return ValueError(
        f"image must be a picture {rule}; got {name!r} ({reason}). Replace it, or take it out."
    )


def _prepared(picture: Image.Image, wanted: ImageInput) -> Image.Image:
    """An open picture in RGB, upright, cropped and resized."""
    if wanted.size:
        side = math.ceil(OVERSAMPLING * wanted.size / (wanted.crop or 1))
        picture.draft("RGB", (side, side))  # JPEG alone can: it unpacks fewer points
    orientation = _orientation(picture)
    return _upright(_framed(_rgb(picture), wanted), orientation)


def _shrunk(picture: Image.Image, side: int) -> Image.Image:
    """An open picture in RGB, upright, shrunk if it is larger."""
    picture.draft("RGB", (2 * side, 2 * side))
    orientation, found = _orientation(picture), _rgb(picture)
    found.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=OVERSAMPLING)
    return _upright(found, orientation)


def _upright(found: Image.Image, orientation: int) -> Image.Image:
    """A picture turned as its EXIF said, with nothing left of that."""
    found.info.clear()
    found.getexif()[Base.Orientation] = orientation
    ImageOps.exif_transpose(found, in_place=True)
    return found


def _rgb(picture: Image.Image) -> Image.Image:
    """The picture in RGB on white."""
    whole = picture
    if picture.mode.startswith("I"):  # 16 bits of grey
        values = np.asarray(picture, dtype=float)
        whole = Image.fromarray((values.clip(0, 65535) / 257).astype(np.uint8))
    if picture.has_transparency_data:
        clear = picture.convert("RGBA")
        white = Image.new("RGBA", clear.size, "white")
        whole = Image.alpha_composite(white, clear)
    return whole.convert("RGB")


def _framed(whole: Image.Image, wanted: ImageInput) -> Image.Image:
    """The whole picture or a central square of it, resized."""
    width, height = whole.size
    right, bottom = width, height
    if wanted.crop is not None:
        right = bottom = wanted.crop * min(whole.size)
    left, top = (width - right) / 2, (height - bottom) / 2
    box = (left, top, left + right, top + bottom)
    if wanted.size is None:
        return whole.crop(box)
    way = Image.Resampling.BICUBIC if wanted.bicubic else Image.Resampling.BILINEAR
    return whole.resize((wanted.size, wanted.size), way, box, OVERSAMPLING)


def _orientation(picture: Image.Image) -> int:
    """The EXIF orientation; broken EXIF says nothing."""
    try:
        return int(picture.getexif().get(Base.Orientation, 1))
    except Exception:  # noqa: BLE001 - EXIF fails in as many ways as files, and spoils no picture
        return 1


def _each(
    work: Callable[[str], Found], names: Sequence[str], block: int | None
) -> Generator[Found | ValueError]:
    """What comes of each name in turn, or the sentence, computed by threads block by block.

    Without a size of its own a block has one name for each core.
    """
    from joblib import Parallel, cpu_count, delayed

    block = block or cpu_count()
    # Threads are enough: Pillow unpacks and shrinks without holding the others up.
    with Parallel(n_jobs=-1, prefer="threads") as pool:
        for at in range(0, len(names), block):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what matters is refused, with its file's name
                found = pool(delayed(_tried)(work, name) for name in names[at : at + block])
            yield from cast("list[Found | ValueError]", found)


def _tried(work: Callable[[str], Found], name: str) -> Found | ValueError:
    """What comes of a name, or the sentence."""
    try:
        return work(name)
    except ValueError as error:
        return error


# ---------------------------------------------------------------- numbers
def describe(
    folder: Path, names: Sequence[str], progress: Progress
) -> tuple[Matrix, dict[int, str]]:
    """(pictures, numbers): the descriptor of each picture, and why some have none, by their places.

    Args:
        folder: where the pictures are.
        names: their paths from the folder.
        progress: given the share done.
    """
    found, failures = np.zeros((len(names), sum(BLOCKS))), dict[int, str]()
    for place, line in enumerate(described(folder, names)):
        if isinstance(line, ValueError):
            failures[place] = str(line)
        else:
            found[place] = line
        progress((place + 1) / len(names))
    return found, failures


def described(folder: Path, names: Sequence[str]) -> Generator[Vector | ValueError]:
    """The descriptor of each picture in turn, or the sentence on why there is none.

    Args:
        folder: where the pictures are.
        names: their paths from the folder.
    """
    return _each(lambda name: _descriptor(folder, name), names, BLOCK)


def _descriptor(folder: Path, name: str) -> Vector:
    """The descriptor of one picture."""
    picture = decode(resolve_image(folder, name), name, ImageInput(SIDE))
    pixels = np.asarray(picture, dtype=float) / 255
    parts = _thumbnail(pixels), _histogram(pixels), _hog(pixels)
    return np.concatenate([weight * part for weight, part in zip(WEIGHTS, parts, strict=True)])


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
