import codecs
import gzip
import os

import pytest

from possibal.data import decoding
from possibal.data.decoding import (
    check_folder,
    decode,
    no_progress,
    part_progress,
    read_file,
    throttled,
)


def text(path, encoding=None):
    """The text of a file."""
    return decode(read_file(path, encoding, no_progress))


def put(folder, name, content):
    """The path of a new file."""
    path = folder / name
    path.write_bytes(content)
    return path


def complaint(path, encoding=None):
    """The one line that is said of a file that cannot be read."""
    with pytest.raises(ValueError, match=r"^(file|encoding) must [^\n]*; got [^\n]*\.$") as e:
        text(path, encoding)
    return str(e.value)


@pytest.fixture(name="no_root")
def _no_root():
    """Rights of somebody who does not own the machine, to whom closed files are closed."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield
    if root:
        os.seteuid(0)


# ---------------------------------------------------------------- bytes
def test_a_file_that_ends_in_gz_is_unpacked(tmp_path):
    assert text(put(tmp_path, "a.csv.GZ", gzip.compress(b"a\n1\n"))) == "a\n1\n"


@pytest.mark.parametrize("name", ["none.csv", "none/none.csv"])
def test_a_file_that_is_not_there_is_refused(tmp_path, name):
    said = complaint(tmp_path / name)
    assert said == f"file must exist; got '{tmp_path / name}'. Check its name and folder."


def test_a_file_that_the_user_may_not_read_is_refused(tmp_path, request):
    path = put(tmp_path, "a.csv", b"a\n1\n")
    path.chmod(0)
    request.getfixturevalue("no_root")
    check_folder(path)
    assert "file must be open to you; got" in complaint(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^file must be no folder; got '.*'\. Name a file in it"):
        check_folder(tmp_path)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda packed: packed[1:], "Not a gzipped file"),
        (lambda packed: packed[:-20], "Compressed file ended"),
        (lambda packed: packed[:12] + bytes(8) + packed[20:], "decompressing data"),
    ],
)
def test_a_broken_gzip_file_is_refused_with_the_reason(tmp_path, spoil, why):
    packed = gzip.compress(bytes(range(256)))
    said = complaint(put(tmp_path, "a.csv.gz", spoil(packed)))
    assert said.startswith("file must be sound; got")
    assert why in said


@pytest.mark.parametrize(
    "content", [b"", b" \r\n\t\n", codecs.BOM_UTF8, "\ufeff \n".encode("utf-16")]
)
def test_an_empty_file_is_refused(tmp_path, content):
    assert "file must hold a table; got nothing in" in complaint(put(tmp_path, "a.csv", content))


# ---------------------------------------------------------------- text
@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_tells_the_encoding_and_is_no_text(tmp_path, mark, codec):
    path = put(tmp_path, "a.csv", mark + "größe\n1\n".encode(codec))
    assert text(path) == "größe\n1\n"
    assert text(path, codec) == "größe\n1\n"
    assert "encoding must agree with the byte order mark of the file, utf-" in complaint(
        path, "cp1252"
    )


@pytest.mark.parametrize("codec", ["cp1252", "latin-1", "utf-16-le", "cp500"])
def test_an_encoding_may_be_named(tmp_path, codec):
    assert text(put(tmp_path, "a.csv", "größe\n1\n".encode(codec)), codec) == "größe\n1\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_the_place_of_the_first_byte_that_is_not_utf_8_is_said(tmp_path, mark, end):
    content = f"größe{end}ä{end}".encode() + b"ab\xe9c\xff\n"
    said = complaint(put(tmp_path, "a.csv", mark + content))
    assert said == (
        "file must be text in UTF-8; got the byte 0xE9 at line 3, character 3, in "
        f"'{tmp_path / 'a.csv'}'. Save it as UTF-8, or name its encoding with --encoding, "
        "for example cp1252."
    )


def test_a_byte_that_the_named_encoding_lacks_is_refused_with_its_place(tmp_path):
    said = complaint(put(tmp_path, "a.csv", b"a\n\xe9\x81\n"), "cp1252")
    assert "file must be text in CP1252; got the byte 0x81 at line 2, character 2, in" in said


def test_an_encoding_that_does_not_say_where_it_failed_gets_a_sentence_too(tmp_path):
    said = complaint(put(tmp_path, "a.csv", b"a\n9999-!!"), "punycode")
    assert said.startswith("file must be text in PUNYCODE; got ")


@pytest.mark.parametrize("encoding", ["nonsense", "", "hex", "undefined", "a\0b", "\ud800"])
def test_what_names_no_encoding_is_refused(tmp_path, encoding):
    said = complaint(put(tmp_path, "a.csv", b"a\n1\n"), encoding)
    assert said.startswith("encoding must be one that Python knows; got ")


def test_binary_content_is_refused_with_its_place(tmp_path):
    assert "got the control character U+0000 at line 2, character 3, in" in complaint(
        put(tmp_path, "a.csv", b"a,b\n1,\0\n")
    )
    said = complaint(put(tmp_path, "b.csv", "a,b\n1,2\n".encode("utf-16-le")))
    assert "U+0000 at line 1, character 2, in" in said
    assert said.endswith("name its encoding with --encoding, for example utf-16.")


# ---------------------------------------------------------------- progress
def test_progress_is_told_in_steps_of_a_hundredth_and_the_end_once():
    told = []
    tell = throttled(told.append)
    for share in (0, 0.004, 0.02, 0.021, 0.5, 0.3, 0.996, 1.0, 1.0):
        tell(share)
    assert told == [0.02, 0.5, 0.996, 1.0]


def test_progress_of_a_part_is_told_as_that_of_the_whole():
    told = []
    report = part_progress(told.append, 0.5, 0.75)
    for share in (0.0, 0.5, 1.0):
        report(share)
    assert told == [0.5, 0.625, 0.75]


def test_a_packed_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a\n" * 50_000))
    assert len(read_file(path, None, no_progress).raw) == 100_000
    monkeypatch.setattr(decoding, "SMALL", 1000)
    match = (
        r"^file must unpack to at most 1000 MB and 200 times its size; got more in '.*a\.csv\.gz'"
    )
    with pytest.raises(ValueError, match=match):
        read_file(path, None, no_progress)
    monkeypatch.setattr(decoding, "SMALL", 100_000)
    assert read_file(path, None, no_progress).raw
    monkeypatch.setattr(decoding, "MOST_UNPACKED", 99_999)
    with pytest.raises(ValueError, match=r"^file must unpack to at most"):
        read_file(path, None, no_progress)
