"""Files of a model that a user named: where they lie, what they say, and the hash of them all."""

import json
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, cast

from possibal.embedding.embedder import EmbedderIdentity
from possibal.errors import summary
from possibal.files import is_there

MOST_BYTES = 8_000_000_000
"""Of the files of a model: what is larger does not fit into the memory of those who label."""
MOST_JSON = 200_000_000
"""Of a file in JSON; tokenizers of many languages have tens of megabytes."""
GRAPHS = ("onnx/model.onnx", "model.onnx")
"""Where exporters put a graph."""
ONNX = ".onnx"


@dataclass(frozen=True)
class ModelFiles:
    """A model's folder, and the file in it if the user named one.

    Attributes:
        path: what the user named.
        folder: where files beside the weights are looked for.
    """

    path: Path
    folder: Path

    @classmethod
    def found(cls, path: Path) -> "ModelFiles":
        """The files of a path that exists and holds something."""
        if not is_there(path):
            raise ValueError(
                f"model must be a file or folder that exists; got {str(path)!r}. Check its path: "
                "nothing is downloaded."
            )
        if path.is_dir() and not any(path.iterdir()):
            raise ValueError(f"model must be a folder with files; got {str(path)!r}. It is empty.")
        if path.is_dir():
            return cls(path, path)
        below = path.parent.name == "onnx" and path.suffix == ONNX
        return cls(path, path.parent.parent if below else path.parent)

    def beside(self, name: str) -> Path | None:
        """A file beside the weights, in the model's folder or where the named file lies."""
        places = (self.folder, self.path.parent if self.path.is_file() else self.folder)
        return next((at / name for at in places if (at / name).is_file()), None)

    def document(self, name: str) -> dict[str, Any]:
        """What a file in JSON says; nothing where there is none."""
        path = self.beside(name)
        found = {} if path is None else read_json(path)
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
        raise ValueError(
            f"model must have an object in {name}; got {type(found).__name__} in {str(path)!r}. "
            "Save it anew."
        )

    def graph(self) -> Path | None:
        """The ONNX file: the one that was named, the usual one, or the only one; else None."""
        if self.path.is_file():
            return self.path if self.path.suffix == ONNX else None
        usual = [self.folder / name for name in GRAPHS if (self.folder / name).is_file()]
        every = sorted([*self.folder.glob("*.onnx"), *self.folder.glob("onnx/*.onnx")])
        if usual or len(every) <= 1:
            return next(iter(usual or every), None)
        names = ", ".join(str(path.relative_to(self.folder)) for path in every)
        raise ValueError(
            f"model must be one graph; got {str(self.path)!r} with {names}. Name one of them."
        )

    def identity(self, *paths: Path | None) -> EmbedderIdentity:
        """The identity of a model that was read from some files, in this order."""
        total = sha256()
        for path in paths:
            total.update(b"-" if path is None else _digest(path))
        return EmbedderIdentity(
            self.path.resolve().name, "", total.hexdigest(), str(self.path.absolute())
        )

    def refused(self, rule: str, got: str, remedy: str) -> ValueError:
        """The sentence on a model that breaks a rule."""
        return ValueError(f"model must {rule}; got {str(self.path)!r}, {got}. {remedy}")


def _digest(path: Path) -> bytes:
    """The SHA-256 of a file of a size that can be a model's."""
    if (size := path.stat().st_size) > MOST_BYTES:
        raise ValueError(
            f"model must have files of at most {MOST_BYTES // 10**9} GB; got {str(path)!r} with "
            f"{size / 1e9:.1f} GB. Take a smaller model."
        )
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()


def read_json(path: Path) -> object:
    """What a file in JSON says; one sentence if it says nothing."""
    try:
        if path.stat().st_size > MOST_JSON:
            raise ValueError("it is too large")  # noqa: TRY301 - one sentence for all that fails
        return json.loads(path.read_bytes())
    except (ValueError, OSError, RecursionError) as error:
        raise ValueError(
            f"model must have JSON in {path.name}; got {str(path)!r}, which cannot be read "
            f"({summary(error)}). Save it anew."
        ) from None
