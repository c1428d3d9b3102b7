"""Which embedder is taken: the user's own, else the one that is installed, else none.

embedders = Embedders(chosen(encoder, modalities), cache)
embedders.of(Modality.TEXT) -> Embedder | None

Nothing is ever downloaded: a model is in an installed package, or in a file that the user names.
A plug-in is both: what its name leads to is a function of the user's own.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from possibal.arrays import Vector
from possibal.embedding import efficientnet, own_models, sentence_encoder
from possibal.embedding.cache import EmbeddingCache
from possibal.embedding.computing import embedded
from possibal.embedding.embedder import Embedder, EmbedderIdentity, ImageInput, Modality, Vectors
from possibal.embedding.projection import unit_rows
from possibal.errors import summary
from possibal.files import is_there
from possibal.plugins import Plugin, PluginGroup, find_plugin

PROBE_TEXT = (
    "Where is my card?",
    "The weather is fine today, and the train was late.",
    "Die Lieferung kam nicht an, und ich habe schon zweimal angerufen.",
    "El perro no come; la casa es de mi hermano. Merci pour votre aide, je suis très content.",
    "今天天气很好。Поезд опоздал.",
    "URGENT!!! Win 100% FREE $$ at https://x.example/1?a=2 or mail me@x.example :-)",
    "error 404: def f(x): return [x[0], 3.14]  # ACGTTGCA",
)
"""Texts by whose vectors a user's own function is known again: of several languages and kinds, so
that functions which look at few things are told apart too."""
PROBE_SIDE = 64
"""Points along the side of the pictures that serve the same end."""
SAME_VECTOR = 0.1
"""Difference of a row's vectors of length one, by itself and beside others, that is rounding."""
DIGITS = 2
"""Decimals of these vectors that count: the last ones differ from machine to machine."""


@dataclass(frozen=True, eq=False)
class Embedders:
    """The embedders of a user's own, and where vectors are kept.

    Attributes:
        own: what the user gave, by what it reads.
        cache: of vectors.
    """

    own: Mapping[Modality, object] = field(default_factory=dict[Modality, object])
    cache: EmbeddingCache = field(default_factory=EmbeddingCache)

    def of(self, modality: Modality) -> Embedder | None:
        """The embedder for rows of a modality: the user's own, else an installed one, else None."""
        if modality in self.own:
            return own_embedder(self.own[modality], modality)
        return installed_embedder(modality)

    def known(self, identity: EmbedderIdentity, modality: Modality) -> Embedder:
        """The embedder that rows were embedded with before, or one sentence if it is another."""
        found = self._found(identity, modality)
        if found is None or not found.identity.is_same(identity):
            got = "none" if found is None else _described(found.identity)
            raise ValueError(
                f"encoder must be the one that the rows were embedded with, {_described(identity)};"
                f" got {got}. {_remedy(identity, modality)}"
            )
        return found

    def _found(self, identity: EmbedderIdentity, modality: Modality) -> Embedder | None:
        """The user's own, the one that was named before, or the installed one."""
        if modality not in self.own and identity.plugin:
            plugin = find_plugin(PluginGroup.ENCODERS, identity.plugin)
            return plugin and plugin_embedder(plugin, modality)
        if modality in self.own or not identity.path:
            return self.of(modality)
        path = Path(identity.path)
        return own_models.load_own_model(path, modality) if is_there(path) else None


def installed_embedder(modality: Modality) -> Embedder | None:
    """The embedder of an installed package; None where there is none."""
    if modality is Modality.TEXT:
        return sentence_encoder.SentenceEncoder() if sentence_encoder.is_installed() else None
    return efficientnet.load_efficientnet() if efficientnet.is_installed() else None


def chosen(encoder: object, modalities: Sequence[Modality]) -> dict[Modality, object]:
    """What a user gave, by the modality that it is for.

    Args:
        encoder: a function from rows to an array, an object with such a function called encode,
            the path of a model, the name of a plug-in, a mapping of "text" and "image" to these,
            or None.
        modalities: of the rows.
    """
    if encoder is None:
        return {}
    if isinstance(encoder, Mapping):
        return {_modality(name, modalities): one for name, one in encoder.items()}
    if not modalities:
        raise ValueError(
            f"encoder must be left out where no column is a text or a picture; got {encoder!r}. "
            "Name the column of texts, or leave it out."
        )
    if len(modalities) == 1:
        return {modalities[0]: encoder}
    if isinstance(encoder, str | Path) and named_plugin(encoder) is None:
        is_text = own_models.reads_texts(Path(encoder))
        return {Modality.TEXT if is_text else Modality.IMAGE: encoder}
    raise ValueError(
        "encoder must say what it reads where rows have texts and pictures; got a "
        f"{type(encoder).__name__}. Pass, say, {{'text': it}}."
    )


def _modality(name: object, modalities: Sequence[Modality]) -> Modality:
    """A modality by its name, if rows have it."""
    if name not in [str(one) for one in modalities]:
        known = " or ".join(map(repr, map(str, modalities))) or "nothing"
        raise ValueError(
            f"encoder must be for what the rows have, {known}; got {name!r}. Leave that out."
        )
    return Modality(str(name))


# ---------------------------------------------------------------- a user's own
def own_embedder(encoder: object, modality: Modality) -> Embedder:
    """What a user gave as an embedder: a path, a plug-in, an object that encodes, a function."""
    if isinstance(encoder, str | Path):
        plugin = named_plugin(encoder)
        if plugin is not None:
            return plugin_embedder(plugin, modality)
        return own_models.load_own_model(Path(encoder), modality)
    function = getattr(encoder, "encode", encoder)
    if not callable(function):
        raise TypeError(
            "encoder must be a function from rows to an array, or the path of a model; got "
            f"{type(encoder).__name__}. Pass, say, model.encode."
        )
    return CallableEmbedder(function, modality)


def named_plugin(encoder: str | Path) -> Plugin | None:
    """The plug-in that a name is of, unless a file or folder has that name."""
    return None if is_there(Path(encoder)) else find_plugin(PluginGroup.ENCODERS, str(encoder))


def plugin_embedder(plugin: Plugin, modality: Modality) -> Embedder:
    """The embedder of a plug-in, which is known again by its name and by what it makes of rows."""
    made = own_embedder(plugin.load(), modality)
    if not isinstance(made, CallableEmbedder):
        raise plugin.refused("be a function where it is a plug-in")
    name = f"{plugin.name} of {plugin.distribution}"
    made.identity = replace(made.identity, name=name, plugin=plugin.name)
    return made


class CallableEmbedder:
    """A user's own function from texts, or from pictures of Pillow, to an array.

    It is known again by what it makes of rows that are always the same.
    """

    def __init__(self, function: Callable[..., Any], modality: Modality) -> None:
        """Try it once."""
        self.function, self.modality = function, modality
        self.image_input = ImageInput() if modality is Modality.IMAGE else None
        name = getattr(function, "__qualname__", type(function).__name__)
        self.identity = EmbedderIdentity(name, "", "")
        self.identity = EmbedderIdentity(name, "", self._digest())

    def embed(self, rows: Sequence[str] | Sequence[Image.Image]) -> Vectors:
        """(n, d): what the function makes of rows, if it makes numbers of them."""
        try:
            return self.function(list(rows))
        except Exception as error:
            raise ValueError(
                f"encoder must turn rows into numbers; got {summary(error)!r} from "
                f"{self.identity.name!r}. Mend it, or name another."
            ) from error

    def _digest(self) -> str:
        """SHA-256 of what it makes of a few rows, as far as machines agree on it."""
        rows = list(PROBE_TEXT) if self.modality is Modality.TEXT else _probe_pictures()
        found = unit_rows(embedded(self, rows).astype(float))
        self._check_by_itself(rows[-1], found[-1])
        said = found.round(DIGITS) + 0.0  # -0 is 0
        return hashlib.sha256(np.ascontiguousarray(said).tobytes()).hexdigest()

    def _check_by_itself(self, row: str | Image.Image, beside: Vector) -> None:
        """Refuse a function that makes something else of a row when other rows are beside it.

        One that is fitted to the rows it is given does so, and rows come in batches.
        """
        alone = unit_rows(embedded(self, [row]).astype(float))[0]
        if alone.shape != beside.shape or np.abs(alone - beside).max() > SAME_VECTOR:
            raise ValueError(
                "encoder must give a row the same vector whichever rows are beside it; got another "
                f"from {self.identity.name!r}. Fit it first, and pass what only applies it."
            )


def _probe_pictures() -> list[Image.Image]:
    """Pictures of colours that run into each other, bright and dark, and of stripes."""
    ramp = np.linspace(0, 255, PROBE_SIDE)
    across, down = np.meshgrid(ramp, ramp)
    stripes = np.where(across % 64 < 32, 255.0, down)  # noqa: PLR2004 - eight of them
    colours = (across, down, 255 - across), (down / 4, across / 8, down / 2), (stripes, down, down)
    return [Image.fromarray(np.stack(one, axis=2).astype(np.uint8)) for one in colours]


# ---------------------------------------------------------------- words
def _described(identity: EmbedderIdentity) -> str:
    """An embedder in a few words."""
    version = f" {identity.version}" if identity.version else ""
    return f"{identity.name}{version} ({identity.digest[:8]})"


def _remedy(identity: EmbedderIdentity, modality: Modality) -> str:
    """How to come by the embedder that is wanted."""
    if identity.plugin:
        return "Install the distribution that has it, in that version."
    if identity.path:
        return f"Name it with --encoder, or put it at {identity.path!r} again."
    if identity.version:
        return f"Run pip install 'possibal[{modality}]' in that version."
    return "Pass it with encoder=."
