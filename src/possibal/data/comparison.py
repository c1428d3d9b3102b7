"""By what rows are compared: texts by meaning or words, pictures by objects or colours.

choose_embedder(Modality.TEXT, wanted, embedders, texts) -> EmbedderChoice(embedder, note)

Pretrained models are taken where they are installed and understand the rows; a note says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from possibal.arguments import choice
from possibal.data.source import SourceSpec
from possibal.embedding.cache import EmbeddingCache
from possibal.embedding.embedder import Embedder, EmbedderIdentity, Modality
from possibal.embedding.embedders import Embedders, chosen
from possibal.embedding.sentence_encoder import SentenceEncoder


class Comparison(StrEnum):
    """What two rows are compared by; the value is what users write."""

    MEANING = "meaning"
    WORDS = "words"
    OBJECTS = "objects"
    COLOURS = "colours"
    NUMBERS = "numbers"


BY_MODEL = {Modality.TEXT: Comparison.MEANING, Modality.IMAGE: Comparison.OBJECTS}
PLAIN = {Modality.TEXT: Comparison.WORDS, Modality.IMAGE: Comparison.COLOURS}
ROWS = {Modality.TEXT: "texts", Modality.IMAGE: "pictures"}
INSTEAD = {
    Modality.TEXT: ("what they mean", "--by words compares their words instead"),
    Modality.IMAGE: ("what they show", "--by colours compares light, colours and edges instead"),
}
"""What is said where a model is taken: what it sees, and what else there is."""
WITHOUT = {
    Modality.TEXT: "texts were compared by words; by meaning they need far fewer answers: "
    "pip install 'possibal[text]'.",
    Modality.IMAGE: "pictures were compared by light, colours and edges; by what they show they "
    "need far fewer answers: pip install 'possibal[image]'.",
}
"""What is said where no model is installed."""
PLAINLY = {
    Modality.TEXT: "texts were compared by words, as you asked.",
    Modality.IMAGE: "pictures were compared by light, colours and edges, as you asked.",
}
"""What is said where none is wanted."""


@dataclass(frozen=True, eq=False)
class EmbedderChoice:
    """The embedder of texts or pictures, None for none, and a sentence that says so.

    Attributes:
        embedder: the one that is taken.
        note: which, and what else there is.
        is_own: whether the user gave it.
    """

    embedder: Embedder | None
    note: str
    is_own: bool = False


def comparisons(wanted: SourceSpec) -> tuple[Comparison, ...]:
    """What a user wants rows to be compared by; commas separate several."""
    named = [part.strip() for one in wanted.by for part in str(one).split(",")]
    known = {str(one): one for one in Comparison}
    found = tuple(choice("by", name, known) for name in named)
    for modality in Modality:
        both = {BY_MODEL[modality], PLAIN[modality]}
        if both <= set(found):
            raise ValueError(
                f"by must be one of {' and '.join(sorted(map(repr, map(str, both))))} for "
                f"{ROWS[modality]}; got both. Leave one out."
            )
    return found


def user_embedders(wanted: SourceSpec, modalities: Sequence[Modality]) -> Embedders:
    """The embedders that a user gave for rows of some modalities, and the cache of vectors."""
    return Embedders(chosen(wanted.encoder, modalities), EmbeddingCache(wanted.cache))


def check_comparisons(wanted: SourceSpec, modalities: Sequence[Modality]) -> None:
    """Refuse a comparison by what the rows have not."""
    possible = {one[modality] for modality in modalities for one in (BY_MODEL, PLAIN)}
    if wanted.features is not None:
        possible = {Comparison.NUMBERS}
    for one in comparisons(wanted):
        if one not in possible:
            shown = " or ".join(sorted(map(repr, map(str, possible)))) or "left out"
            raise ValueError(
                f"by must fit the rows, and be {shown}; got {str(one)!r}. Leave it out, or name "
                "the column that it is about."
            )


def choose_embedder(
    modality: Modality, wanted: SourceSpec, embedders: Embedders, texts: Sequence[str | None] = ()
) -> EmbedderChoice:
    """Which embedder rows of a modality get, and what is said of it.

    Args:
        modality: of the rows.
        wanted: what the user says.
        embedders: those of the user's own.
        texts: of the rows, where they are texts.
    """
    by = comparisons(wanted)
    if PLAIN[modality] in by:
        if modality in embedders.own:
            raise ValueError(
                f"by must be left out where a model is given; got {str(PLAIN[modality])!r}. "
                "Leave one of them out."
            )
        return EmbedderChoice(None, PLAINLY[modality])
    found, is_asked = embedders.of(modality), BY_MODEL[modality] in by
    if found is None:
        if is_asked:
            raise ValueError(
                f"by must be {str(PLAIN[modality])!r} where no model is installed; got "
                f"{str(BY_MODEL[modality])!r}. Run pip install 'possibal[{modality}]'."
            )
        return EmbedderChoice(None, WITHOUT[modality])
    if isinstance(found, SentenceEncoder) and not is_asked:
        reason = found.blindness([text or "" for text in texts])
        if reason:
            return EmbedderChoice(
                None, f"texts were compared by words, for {reason}; --by meaning overrules it."
            )
    return EmbedderChoice(found, _by_model(modality, found.identity), modality in embedders.own)


def kept_comparisons(recipe: Mapping[str, Any], wanted: SourceSpec) -> tuple[str, ...]:
    """What is to be said where rows stay compared otherwise than a user wants now.

    Another model than the one that rows were embedded with is refused.

    Args:
        recipe: the document of the one that made the rows' features.
        wanted: what the user says now.
    """
    said = list[str]()
    if wanted.kernel is not None and recipe.get("kernel") != wanted.kernel:
        said.append("kernel stays as when the campaign began.")
    if not wanted.by and wanted.encoder is None:
        return tuple(said)
    parts: Sequence[Mapping[str, Any]] = recipe.get("parts") or [recipe]
    found: dict[str, Any] = {one["kind"]: one.get("embedder") for one in parts}
    modalities = [one for one in Modality if one in found]
    check_comparisons(wanted, modalities)
    own, by = user_embedders(wanted, modalities), comparisons(wanted)
    for modality in modalities:
        now = (PLAIN if found[modality] is None else BY_MODEL)[modality]
        others = {PLAIN[modality], BY_MODEL[modality]} - {now}
        is_unused = modality in own.own and found[modality] is None
        if is_unused or others.intersection(by):
            said.append(f"{ROWS[modality]} stay compared by {now}, as when the campaign began.")
        elif modality in own.own:
            own.known(EmbedderIdentity(**found[modality]), modality)
    return tuple(said)


def _by_model(modality: Modality, identity: EmbedderIdentity) -> str:
    """What is said of rows that a model embedded."""
    named = f"{identity.name} {identity.version}".rstrip()
    if not identity.version:
        return f"{ROWS[modality]} were compared by {named}."
    by, other = INSTEAD[modality]
    return f"{ROWS[modality]} were compared by {by} ({named}); {other}."
