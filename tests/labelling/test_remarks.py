import pytest

from possibal.errors import RefusedError
from possibal.labelling.remarks import (
    LONGEST,
    check_text,
    commented,
    read_guidelines,
    revised,
    text_detail,
    text_of,
)
from possibal.labelling.storage.journal import Kind


def test_line_ends_are_alike_and_none_is_left_at_the_ends():
    assert text_detail("\r\n a \r\n\rb\u2028c\n\n") == {"text": "a\n\nb\u2028c"}
    assert text_of(commented(3, " odd ", "ann")) == "odd"
    assert text_of(None) == ""


def test_a_text_that_fits_is_fine():
    check_text(revised("a" * LONGEST[Kind.GUIDELINES], "ann"))
    check_text(commented(0, "a\tb\nc", "ann"))


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (
            revised("a" * 20_001, "ann"),
            "guidelines must be of at most 20,000 characters; got 20,001",
        ),
        (
            commented(0, "a" * 2_001, "ann"),
            "comment must be of at most 2,000 characters; got 2,001",
        ),
        (commented(0, "a\x00", "ann"), "comment must be without control characters"),
        (commented(0, "a\ud800", "ann"), "comment must be without control characters"),
    ],
)
def test_a_text_that_is_too_long_or_cannot_be_read_is_refused(event, said):
    with pytest.raises(RefusedError, match=said):
        check_text(event)


def test_guidelines_are_read_from_a_file_of_text(tmp_path):
    path = tmp_path / "how.md"
    path.write_bytes("\ufeff# How\r\n- \u00e9t\u00e9\r\n".encode())
    assert read_guidelines(path) == "# How\n- \u00e9t\u00e9"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b" \n", "guidelines must have text; got none"),
        (b"\xe9 at first", "file must be text in UTF-8; got the byte 0xE9"),
        (b"a" * 20_001, "guidelines must be of at most 20,000 characters"),
        (None, "file must exist"),
    ],
)
def test_a_file_that_is_no_text_for_guidelines_is_refused(tmp_path, content, said):
    path = tmp_path / "how.md"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read_guidelines(path)


def test_a_folder_is_no_guidelines(tmp_path):
    with pytest.raises(ValueError, match="file must be no folder"):
        read_guidelines(tmp_path)
