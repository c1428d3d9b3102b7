"""Numbers as people write them: with currency and % signs, thousands separators, parentheses.

read_numerals(["€1,200.50", "€3"]).values -> [1200.5, 3.0]
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

MANY_DIGITS = 16
"""Whole numbers written with so many digits are codes: a float holds no more."""
PHONE = 7
"""So many digits in every cell, in groups that spaces or points separate, are phone numbers."""
CODES = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KRW|MXN|"
    "MYR|NGN|NOK|NZD|PHP|PLN|RMB|RON|RSD|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR"
)
"""Currencies as banks write them; codes that are English words are left out."""
CURRENCY = rf"[A-Z]{{0,2}}[$€£¥₹₩₽₺₫₪₴₦₱฿]|{CODES}|kr\.?|zł|Kč|Ft|lei|Rs\.?|Fr\."
SPACES = " \u00a0\u2007\u2009\u202f"
"""What separates thousands where no sign does: also no-break, figure and thin spaces."""
PLAIN = str.maketrans({**dict.fromkeys(SPACES, " "), "\u2212": "-", "\u2019": "'"})
"""Typography undone: one space, one minus sign, one apostrophe."""
# Sign, currency, sign, digits, unit.
NUMERAL = re.compile(
    rf"([-+]?)(?:({CURRENCY}) *)?([-+]?)([.,]?[0-9](?:[0-9.,' ]*[0-9])?) *({CURRENCY}|%)?"
)
PARENTHESES = re.compile(r"([^()0-9]*)\(([^()]+)\)([^()0-9]*)")

_Part: TypeAlias = tuple[str, str, str]


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class Numerals:
    """Numbers that were read from text.

    Attributes:
        values: one for each text.
        without: what stood around or in the digits and says nothing of their size.
        negative: whether some were negative for standing in parentheses.
    """

    values: list[float]
    without: tuple[str, ...]
    negative: bool

    def note(self, name: str) -> str:
        """What was done to the column of that name; empty if nothing worth a word."""
        said = [f"without {' and '.join(self.without)}"] if self.without else []
        said += ["as negative where they stand in parentheses"] if self.negative else []
        return f"the numbers of column {name} were read {', and '.join(said)}." if said else ""


# ---------------------------------------------------------------- the face
def read_numerals(words: Sequence[str], decimal: str = ".") -> Numerals | None:
    """The numbers that all words are by one convention; None if one is none, or they are codes.

    Args:
        words: stripped, none of them missing.
        decimal: what separates decimals in the file, a point or a comma. The other one does so
            only if a word can be read in no other way.
    """
    parts = _parts(words)
    units = {unit for _, unit, _ in parts or ()}
    if parts is None or len(units) != 1:
        return None
    (unit,), bodies = units, [body for _, _, body in parts]
    other = "," if decimal == "." else "."
    group = _group(bodies, decimal)
    if group is None:
        decimal, group = other, _group(bodies, other)
        if group is None or not _is_proven(bodies, decimal, group, unit):
            return None
    negative = any(sign == "()" for sign, _, _ in parts)
    if not unit and _are_codes(parts, decimal, group):
        return None
    marks = ("% signs" if unit == "%" else "currency signs") if unit else ""
    without = tuple(filter(None, (marks, "thousands separators" if group else "")))
    return Numerals([_value(part, decimal, group) for part in parts], without, negative)


def read_numeral(word: str) -> float | None:
    """The number that a word is by itself, where there is one way only to read it."""
    found = (read_numerals([word], decimal) for decimal in ".,")
    values = {numerals.values[0] for numerals in found if numerals is not None}
    return values.pop() if len(values) == 1 else None


# ---------------------------------------------------------------- parts
def _parts(words: Iterable[str]) -> list[_Part] | None:
    """Sign, unit and digits of every word; None if one is no number."""
    found = list[_Part]()
    for word in words:
        part = _part(word.translate(PLAIN))
        if part is None:
            return None
        found.append(part)
    return found


def _part(word: str) -> _Part | None:
    """Sign, unit and digits of a word; None if it is no number."""
    bracketed = PARENTHESES.fullmatch(word) if word[-1:] == ")" or "(" in word else None
    match = NUMERAL.fullmatch("".join(bracketed.groups()) if bracketed else word)
    if match is None:
        return None
    sign, before, inner, digits, after = match.groups()
    if (sign and inner) or (before and after) or (bracketed and (sign or inner)):
        return None
    return "()" if bracketed else sign or inner, before or after or "", digits


def _group(bodies: Sequence[str], decimal: str) -> str | None:
    """What separates thousands, given the decimal; empty if nothing, None if the digits differ."""
    groups = set("".join(bodies)) - set(f"0123456789{decimal}")
    if len(groups) > 1:
        return None
    group, fraction = "".join(groups), rf"(?:{re.escape(decimal)}[0-9]+)?"
    whole = "0|[1-9][0-9]*"
    if group:
        # Four digits often stay together where spaces separate thousands.
        short = "[1-9][0-9]{0,3}" if group == " " else "[1-9][0-9]{0,2}"
        whole = rf"0|{short}|[1-9][0-9]{{0,2}}(?:{re.escape(group)}[0-9]{{3}})+"
    pattern = re.compile(rf"(?:(?:{whole}){fraction}|{re.escape(decimal)}[0-9]+)")
    return group if all(map(pattern.fullmatch, bodies)) else None


def _is_proven(bodies: Sequence[str], decimal: str, group: str, unit: str) -> bool:
    """Whether a word can be read by no other decimal."""
    grouped = [body for body in bodies if group and group in body]
    if any(body.count(group) > 1 or decimal in body for body in grouped):
        return True
    fractions = [len(body.partition(decimal)[2]) for body in bodies if decimal in body]
    return bool(unit or group) and any(size != 3 for size in fractions)  # noqa: PLR2004 - thousands


def _are_codes(parts: Sequence[_Part], decimal: str, group: str) -> bool:
    """Whether bare digits count nothing: phone numbers, numbered lists, or too long for a float."""
    bodies = ["".join(filter(str.isdigit, body.partition(decimal)[0])) for _, _, body in parts]
    if any(len(body) >= MANY_DIGITS for body in bodies):
        return True
    if any(decimal in body for _, _, body in parts):
        return False
    if not group:
        return all(sign == "()" for sign, _, _ in parts)
    widths = set(map(len, bodies))
    plus = any(sign == "+" for sign, _, _ in parts)
    return group != "," and (plus or (len(widths) == 1 and min(widths) >= PHONE))


def _value(part: _Part, decimal: str, group: str) -> float:
    """The number of a word's parts."""
    sign, _, body = part
    size = float((body.replace(group, "") if group else body).replace(decimal, "."))
    return -size if sign in {"-", "()"} else size
