import os
import shutil
import stat
import struct
import threading
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from possibal.data import archives
from possibal.data.archives import unpack_pictures
from possibal.data.images import list_images


def picture(shade=0):
    """The bytes of a small picture."""
    Image.fromarray(np.full((4, 4, 3), shade, dtype=np.uint8)).save(buffer := BytesIO(), "PNG")
    return buffer.getvalue()


def packed(path, entries, method=ZIP_DEFLATED):
    """A zip file of entries by name, or of names whose content does not matter."""
    named = (
        entries
        if isinstance(entries, dict)
        else {name: picture(i) for i, name in enumerate(entries)}
    )
    with ZipFile(path, "w", method) as pack:
        for name, content in named.items():
            pack.writestr(name, content)
    return path


def names(folder):
    """Everything in a folder, hidden files too."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def refusal(path):
    """The one line that is said of a zip file; nothing is left behind."""
    before = sorted(path.parent.iterdir())
    with pytest.raises(ValueError, match=r"^file must [^\n]*; got [^\n]*\.$") as e:
        unpack_pictures(path)
    assert sorted(path.parent.iterdir()) == before
    assert repr(str(path)) in str(e.value)
    return str(e.value)


# ---------------------------------------------------------------- what is unpacked
@pytest.mark.parametrize("method", [ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_pictures_come_out_as_they_went_in(tmp_path, method):
    entries = {"a.png": picture(1), "b/c.PNG": picture(2), "b/d/é.png": picture(3)}
    found = unpack_pictures(packed(tmp_path / "ants.zip", entries, method))
    assert found.folder.parent == tmp_path
    assert found.folder.name.startswith("ants.")
    assert found.folder.name.endswith(".pictures")
    assert {name: (found.folder / name).read_bytes() for name in names(found.folder)} == entries
    assert list_images(found.folder).names == tuple(entries)


def test_hidden_files_do_not_count_and_other_files_are_counted(tmp_path):
    entries = ["a.png", ".b.png", ".c/d.png", "__MACOSX/._a.png", "e/.DS_Store", "labels.csv", "f"]
    found = unpack_pictures(packed(tmp_path / "a.zip", entries))
    assert names(found.folder) == ["a.png"]
    assert found.others == 2


@pytest.mark.parametrize(
    ("given_names", "expected"),
    [
        (["top/a.png", "top/b.png"], ["a.png", "b.png"]),
        (["top/ants/a.png", "top/bees/b.png"], ["ants/a.png", "bees/b.png"]),
        (["top/in/ants/a.png", "top/in/bees/b.png"], ["ants/a.png", "bees/b.png"]),
        (["top/a.png", "b.png"], ["b.png", "top/a.png"]),
        (["top/a.png", "topmost/b.png"], ["top/a.png", "topmost/b.png"]),
        (["top/a.png", "top/b.png", "readme.txt", "__MACOSX/top/._a.png"], ["a.png", "b.png"]),
        (["./a.png", "./b/c.png"], ["a.png", "b/c.png"]),
        (["top\\a.png", "top\\b\\c.png"], ["a.png", "b/c.png"]),
    ],
)
def test_a_folder_that_holds_all_pictures_is_left_out(tmp_path, given_names, expected):
    assert names(unpack_pictures(packed(tmp_path / "a.zip", given_names)).folder) == expected


def test_names_in_utf_8_are_read_though_nothing_says_that_they_are(tmp_path):
    path = packed(tmp_path / "a.zip", ["Kxxse.png", "b.png"])
    path.write_bytes(path.read_bytes().replace(b"Kxxse.png", "Käse.png".encode()))
    assert names(unpack_pictures(path).folder) == ["Käse.png", "b.png"]
    path.write_bytes(path.read_bytes().replace("ä".encode(), b"\x84s"))
    assert names(unpack_pictures(path).folder) == ["Kässe.png", "b.png"]


@given(
    st.lists(
        st.lists(
            st.text("abé ._-", min_size=1).filter(lambda one: one.strip(". ")),
            min_size=1,
            max_size=3,
        ),
        min_size=1,
        max_size=5,
    )
)
def test_whatever_their_names_all_pictures_lie_in_the_folder(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp("zip")
    entries = {
        "/".join(f"x{part}" for part in one) + ".png": picture(i) for i, one in enumerate(parts)
    }
    found = unpack_pictures(packed(folder / "a.zip", entries))
    assert len(names(found.folder)) == len(entries)
    assert sorted(path.name for path in folder.iterdir()) == sorted(["a.zip", found.folder.name])


# ---------------------------------------------------------------- once
def test_the_same_content_is_not_unpacked_again(tmp_path):
    path = packed(tmp_path / "a.zip", ["a.png", "b.png"])
    first = unpack_pictures(path)
    stamps = [(first.folder / name).stat().st_ino for name in names(first.folder)]
    assert unpack_pictures(path) == first
    assert [(first.folder / name).stat().st_ino for name in names(first.folder)] == stamps
    shutil.copy(path, tmp_path / "b.zip")
    assert unpack_pictures(tmp_path / "b.zip").folder != first.folder


def test_other_content_under_the_same_name_gets_a_folder_of_its_own(tmp_path):
    first = unpack_pictures(packed(tmp_path / "a.zip", ["a.png"]))
    second = unpack_pictures(packed(tmp_path / "a.zip", ["b.png"]))
    assert first.folder != second.folder
    assert names(first.folder) == ["a.png"]
    assert names(second.folder) == ["b.png"]


def test_pictures_that_were_lost_or_cut_come_back(tmp_path):
    path = packed(tmp_path / "a.zip", ["x/a.png", "y/b.png", "y/c.png"])
    folder = unpack_pictures(path).folder
    shutil.rmtree(folder / "x")
    (folder / "y/b.png").write_bytes(b"")
    assert unpack_pictures(path).folder == folder
    assert (folder / "x/a.png").read_bytes() == picture(0)
    assert (folder / "y/b.png").read_bytes() == picture(1)


def test_another_place_may_be_named(tmp_path):
    path = packed(tmp_path / "a.zip", ["a.png"])
    found = unpack_pictures(path, tmp_path / "elsewhere")
    assert found.folder.parent == tmp_path / "elsewhere"
    assert names(found.folder) == ["a.png"]


def test_an_unpacking_that_fails_leaves_nothing(tmp_path):
    path = packed(tmp_path / "a.zip", ["a.png", "b.png"], ZIP_STORED)
    content = path.read_bytes()
    place = content.index(picture(1)) + 20
    path.write_bytes(content[:place] + b"!!" + content[place + 2 :])
    assert "unpack without a fault; got Bad CRC-32 for file 'b.png' in" in refusal(path)


def test_two_at_the_same_time_give_one_folder(tmp_path, monkeypatch):
    path = packed(tmp_path / "a.zip", [f"{i}.png" for i in range(50)])
    monkeypatch.setattr(
        archives, "part_of", lambda path: path.with_name(f".{path.name}.{threading.get_ident()}")
    )
    found, barrier = [], threading.Barrier(4)

    def start():
        barrier.wait()
        found.append(unpack_pictures(path))

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert len(names(found[0].folder)) == 50
    assert len(list(tmp_path.iterdir())) == 2


def test_progress_grows_to_one(tmp_path):
    told = []
    path = packed(tmp_path / "a.zip", [f"{i}.png" for i in range(50)])
    unpack_pictures(path, progress=told.append)
    assert told == sorted(set(told))
    assert len(told) == 50
    assert told[-1] == 1


# ---------------------------------------------------------------- what is refused
def entry_of(name, kind):
    """An entry of another kind than a plain file."""
    entry = ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = (kind | 0o777) << 16
    return entry


def flagged(path, flag):
    """A zip file whose first entry has a flag."""
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.index(mark) + place
        struct.pack_into("<H", content, at, struct.unpack_from("<H", content, at)[0] | flag)
    path.write_bytes(content)


@pytest.mark.parametrize(
    "name",
    [
        "../a.png",
        "b/../../a.png",
        "..\\a.png",
        "/a.png",
        "\\a.png",
        "C:\\a.png",
        "C:a.png",
        "../a.txt",
    ],
)
def test_names_that_leave_the_folder_are_refused(tmp_path, name):
    said = refusal(packed(tmp_path / "a.zip", ["b.png", name]))
    assert "file must hold names that stay in its folder; got " in said
    assert not (tmp_path.parent / "a.png").exists()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(tmp_path, kind):
    with ZipFile(tmp_path / "a.zip", "w") as pack:
        pack.writestr(entry_of("a.png", kind), "/etc/passwd")
    assert "hold plain files; got 'a.png', a link or device, in" in refusal(tmp_path / "a.zip")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "be a sound zip file; got File is not a zip file in"),
        (b"PK\x03\x04", "be a sound zip file; got File is not a zip file in"),
        (b"\x1f\x8b", "be a sound zip file; got File is not a zip file in"),
        (picture(), "be a sound zip file; got File is not a zip file in"),
    ],
)
def test_what_is_no_zip_file_is_refused(tmp_path, content, why):
    (tmp_path / "a.zip").write_bytes(content)
    assert why in refusal(tmp_path / "a.zip")


def test_a_zip_file_that_was_cut_is_refused(tmp_path):
    content = packed(tmp_path / "a.zip", ["a.png", "b.png"]).read_bytes()
    for size in range(1, len(content), 7):
        (tmp_path / "a.zip").write_bytes(content[:size])
        assert "be a sound zip file; got" in refusal(tmp_path / "a.zip")


@pytest.mark.parametrize("entries", [[], ["a.txt"], ["a/"], [".a.png"], ["a.csv", "b.tif"]])
def test_a_zip_file_without_pictures_is_refused(tmp_path, entries):
    said = refusal(packed(tmp_path / "a.zip", entries))
    assert "file must hold pictures that end in .png, .jpg," in said
    assert "; got none in" in said


def test_a_password_is_refused(tmp_path):
    flagged(packed(tmp_path / "a.zip", ["a.png"]), 0x1)
    assert "be open to all; got a password in" in refusal(tmp_path / "a.zip")


def test_a_method_of_packing_that_nobody_knows_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", ["a.png"])
    content = path.read_bytes()
    path.write_bytes(content.replace(b"\x08\x00", b"\x09\x00"))
    assert "unpack without a fault; got That compression method is not supported" in refusal(path)


@pytest.mark.parametrize("again", ["./é.png", "É.png", "e\u0301.png", "é.PNG"])
def test_a_name_that_comes_twice_on_some_system_is_refused(tmp_path, again):
    said = refusal(packed(tmp_path / "a.zip", ["é.png", again]))
    assert f"name each picture once; got {again.removeprefix('./')!r} twice in" in said


@pytest.mark.parametrize("entries", [["a.png", "a.png/b.png"], ["a.png/b.png", "a.png"]])
def test_a_file_that_is_a_folder_too_is_refused(tmp_path, entries):
    assert "unpack without a fault; got" in refusal(packed(tmp_path / "a.zip", entries))


def test_a_name_too_long_for_the_system_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", ["x" * 300 + ".png"])
    assert "unpack without a fault; got File name too long in" in refusal(path)


def test_a_picture_of_too_many_bytes_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", {"a.bmp": bytes(50_000_001)})
    assert "of at most 50 MB; got 50000001 bytes for 'a.bmp' in" in refusal(path)


def test_what_unpacks_to_many_times_its_size_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", {f"{i}.bmp": bytes(40_000_000) for i in range(3)})
    said = refusal(path)
    assert (
        "file must unpack to at most 20 GB and 200 times its size; got 120000000 bytes of" in said
    )


def test_what_would_fill_the_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_UNPACKED", 50)
    assert "; got " in refusal(packed(tmp_path / "a.zip", ["a.png"]))


def test_a_zip_file_that_is_missing_or_a_folder_is_refused(tmp_path):
    assert "file must exist; got" in refusal(tmp_path / "a.zip")
    (tmp_path / "b.zip").mkdir()
    assert "file must be no folder; got" in refusal(tmp_path / "b.zip")


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", ["a.png"])
    (tmp_path / "file").touch()
    with pytest.raises(
        ValueError, match=r"^file must unpack without a fault; got Not a directory in"
    ):
        unpack_pictures(path, tmp_path / "file")


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=5))
def test_a_damaged_zip_file_is_unpacked_or_refused_in_one_sentence(tmp_path_factory, damage):
    folder = tmp_path_factory.mktemp("zip")
    path = packed(folder / "a.zip", ["a/b.png", "c.png"])
    content = bytearray(path.read_bytes())
    for place, byte in damage:
        content[place % len(content)] = byte
    path.write_bytes(content)
    try:
        found = unpack_pictures(path)
    except ValueError as error:
        said = str(error)
        assert said.startswith("file must ")
        assert "\n" not in said
        assert os.listdir(folder) == ["a.zip"]  # noqa: PTH208 - names alone
    else:
        assert found.folder.parent == Path(folder)


def test_what_was_unpacked_for_nothing_is_taken_away_again(tmp_path):
    old, new = tmp_path / "a.1.pictures", tmp_path / "a.2.pictures"
    old.mkdir()
    with archives.unpacking(tmp_path / "a.zip"):
        new.mkdir()
    assert new.is_dir()
    shutil.rmtree(new)

    def fail() -> None:
        with archives.unpacking(tmp_path / "a.zip"):
            new.mkdir()
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - our own
        fail()
    assert (old.is_dir(), new.exists()) == (True, False)
