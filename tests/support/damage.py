"""Damage to bytes, as Hypothesis makes it up."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

OTHERS = (
    *(b"\0", b"\n", b'"', b"'", b",", b"\t", b"{", b"}", b"[", b"]", b"%", b"\\", b"<", b">"),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", "\u202e".encode(), b"\x1b[31m"),
    *(b"1e999", b"NaN", b"-0", b"null", b"9" * 400, b"\\ud800", b"[" * 4000, b'{"a":' * 2000),
    *(b"\xff" * 4, b"\x7f" + b"\xff" * 7, b"\x00" * 8, b"\x80" * 10, b"PK\x03\x04"),
)
"""What readers stumble over."""


@dataclass(frozen=True)
class Change:
    """Something that is done to bytes, at a share of their length; most changes are small."""

    verb: str
    at: float
    share: float
    other: bytes

    def made(self, content: bytes) -> bytes:
        """The bytes with the change."""
        at = int(self.at * len(content))
        end = min(len(content), at + 1 + int(self.share**8 * len(content)))
        whole = content[:at], content[at:end], content[end:]
        middle = {
            "end": lambda: None,
            "drop": lambda: b"",
            "insert": lambda: self.other + whole[1],
            "replace": lambda: self.other,
            "repeat": lambda: 2 * whole[1],
            "turn": lambda: bytes(byte ^ (self.other[0] or 1) for byte in whole[1]),
            "blank": lambda: bytes(len(whole[1])),
        }[self.verb]()
        return whole[0] if middle is None else whole[0] + middle + whole[2]


VERBS = ("turn", "replace", "insert", "drop", "repeat", "blank", "end")
SHARE = st.floats(0, 1, exclude_max=True)
CHANGES = st.lists(
    st.builds(
        Change,
        st.sampled_from(VERBS),
        SHARE,
        SHARE,
        st.sampled_from(OTHERS) | st.binary(min_size=1),
    ),
    min_size=1,
    max_size=3,
)


def changed(content: bytes, changes: Sequence[Change]) -> bytes:
    """Bytes with all changes."""
    for change in changes:
        content = change.made(content)
    return content
