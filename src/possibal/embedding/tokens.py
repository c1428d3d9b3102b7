"""Tokenizers: texts as numbers of tokens, by the tokenizer.json that comes with a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from possibal.embedding.model_files import MOST_JSON, ModelFiles
from possibal.errors import MissingPackageError, summary

FILE = "tokenizer.json"
SENTENCES, CONFIG = "sentence_bert_config.json", "tokenizer_config.json"
PROMPTS = "config_sentence_transformers.json"
FILES = (FILE, SENTENCES, CONFIG, PROMPTS, "config.json")
"""What is read of a model's texts."""
USUAL_LENGTH = 512
"""Tokens of a text that count where a model does not say."""
MOST_LENGTH = 100_000
"""A model that says more has no limit: its file says so by a number of thirty digits."""
CHARACTERS, MOST_CHARACTERS = 40, 100_000
"""Of a token on the average, and of a text: what is beyond is cut off before it is split."""
PADS = ("[PAD]", "<pad>")


@dataclass(frozen=True, eq=False)
class TextTokenizer:
    """A tokenizer, and how many tokens of a text count.

    Attributes:
        tokenizer: of the package tokenizers, which neither pads nor warns.
        length: tokens at most.
        pad: the number of the token that fills up.
        prompt: what stands before each text.
        lower: whether texts are put into lower case first.
    """

    tokenizer: Any
    length: int
    pad: int = 0
    prompt: str = ""
    lower: bool = False

    def encode(self, texts: Sequence[str], *, special: bool = True) -> list[list[int]]:
        """The numbers of the tokens of each text.

        Args:
            texts: as they are.
            special: whether to add the tokens that mark begin and end.
        """
        most = min(CHARACTERS * self.length, MOST_CHARACTERS)
        sound = [text[:most].encode(errors="replace").decode() for text in texts]
        cut = [self.prompt + text for text in sound]
        ready = [text.lower() for text in cut] if self.lower else cut
        try:
            found = self.tokenizer.encode_batch_fast(ready, add_special_tokens=special)
        except Exception as error:  # noqa: BLE001 - tokenizers raises nothing more special
            raise ValueError(
                f"model must have a tokenizer that takes every text; got one that fails "
                f"({summary(error)}). Save it anew, with a token for unknown words."
            ) from None
        return [one.ids for one in found]

    def padded(self, tokens: Sequence[Sequence[int]], length: int) -> NDArray[np.int64]:
        """(texts, length): numbers of tokens, filled up."""
        filled = np.full((len(tokens), length), self.pad)
        for line, numbers in zip(filled, tokens, strict=True):
            line[: len(numbers)] = numbers
        return filled


def open_tokenizer(files: ModelFiles, length: int) -> TextTokenizer:
    """The tokenizer of a model.

    Args:
        files: of the model.
        length: tokens of a text that count.
    """
    path = files.beside(FILE)
    if path is None:
        raise files.refused(
            f"come with a {FILE}", "which has none", "Save the fast tokenizer with it."
        )
    tokenizer = _read(path)
    pad = _pad(tokenizer, files.document(CONFIG).get("pad_token"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(length)
    lower = files.document(SENTENCES).get("do_lower_case") is True
    return TextTokenizer(tokenizer, length, pad, _prompt(files), lower)


def _read(path: Path) -> Any:  # noqa: ANN401 - it is not always there
    """The tokenizer of a file; one sentence if it is none."""
    if find_spec("tokenizers") is None:
        raise MissingPackageError(
            f"Reading {FILE} needs tokenizers, which is not installed: "
            "run pip install 'possibal[models]'."
        )
    from tokenizers import Tokenizer

    try:
        if path.stat().st_size > MOST_JSON:
            raise ValueError("it is too large")  # noqa: TRY301 - one sentence for all that fails
        return Tokenizer.from_file(str(path))
    except Exception as error:  # noqa: BLE001 - tokenizers raises nothing more special
        raise ValueError(
            f"model must have a tokenizer in {FILE}; got {str(path)!r}, which is none "
            f"({summary(error)}). Save it anew."
        ) from None


def _pad(tokenizer: Any, named: object) -> int:  # noqa: ANN401 - the same
    """The number of the token that fills up."""
    if tokenizer.padding:
        return int(tokenizer.padding["pad_id"])
    content = cast("dict[str, Any]", named).get("content") if isinstance(named, dict) else named
    numbers = (tokenizer.token_to_id(str(name)) for name in (content, *PADS))
    return next((number for number in numbers if number is not None), 0)


def stated_length(files: ModelFiles) -> int:
    """Tokens of a text that count: what the first file says that says something."""
    places = files.document("config.json").get("max_position_embeddings")
    stated = (
        files.document(SENTENCES).get("max_seq_length"),
        files.document(CONFIG).get("model_max_length"),
        places - 2 if isinstance(places, int) else None,  # some models begin to count at 2
    )
    known = (int(n) for n in stated if isinstance(n, int | float) and 2 < n <= MOST_LENGTH)  # noqa: PLR2004 - begin, end, and a token
    return next(known, USUAL_LENGTH)


def unknown(tokenizer: TextTokenizer) -> int | None:
    """The number of the token that stands for unknown words, if there is one."""
    name = getattr(tokenizer.tokenizer.model, "unk_token", None)
    return None if name is None else tokenizer.tokenizer.token_to_id(name)


def _prompt(files: ModelFiles) -> str:
    """What sentence-transformers puts before each text where a model wants it."""
    document = files.document(PROMPTS)
    name, prompts = document.get("default_prompt_name"), document.get("prompts")
    if not (isinstance(name, str) and isinstance(prompts, dict)):
        return ""
    return str(cast("dict[str, str]", prompts).get(name, ""))
