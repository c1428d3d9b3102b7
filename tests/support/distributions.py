"""Distributions as pip leaves them in a folder: modules, and metadata with entry points."""

from collections.abc import Mapping
from pathlib import Path


def install_distribution(
    folder: Path,
    name: str,
    entry_points: Mapping[str, Mapping[str, str]],
    modules: Mapping[str, str],
    version: str = "1.0",
) -> None:
    """Put a distribution where Python looks for it once the folder is on its path.

    Args:
        folder: of installed distributions.
        name: of this one.
        entry_points: by group and name.
        modules: the text of each.
        version: of the distribution.
    """
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = list[str]()
    for group, found in entry_points.items():
        lines += [f"[{group}]", *(f"{one} = {place}" for one, place in found.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
