import hashlib

import pytest
from PIL import Image

from possibal.data.source import digest, is_folder


def test_a_file_is_known_by_its_content(tmp_path):
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_bytes(b"a,b\n1,2\n")
    other.write_bytes(b"a,b\n1,2\n")
    assert digest(one) == digest(other) == hashlib.sha256(b"a,b\n1,2\n").hexdigest()
    other.write_bytes(b"a,b\n1,3\n")
    assert digest(one) != digest(other)


def test_a_folder_is_known_by_the_names_and_sizes_of_its_pictures(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    before = digest(tmp_path)
    (tmp_path / "notes.txt").write_text("no picture")
    assert digest(tmp_path) == before
    Image.new("RGB", (5, 4)).save(tmp_path / "b.png")
    assert digest(tmp_path) != before


def test_a_file_that_is_not_there_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"file must be one that can be read; got .*no\.csv"):
        digest(tmp_path / "no.csv")


def test_a_name_that_no_system_takes_is_no_folder(tmp_path):
    assert is_folder(tmp_path)
    assert not is_folder(tmp_path / ("x" * 5000))
