"""The commands demo and strategies."""

from pathlib import Path

import pytest

from possibal.acquisition.registry import STRATEGIES
from possibal.cli import main
from possibal.experiments import demo
from possibal.experiments.reporting import demo_figure

PNG = b"\x89PNG\r\n\x1a\n"
SMALL = ("--questions", "3", "--runs", "2", "--jobs", "1")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def files() -> list[str]:
    """What the command left in its folder."""
    return [path.name for path in Path().iterdir()]


def test_every_strategy_is_listed_with_its_sentence(capsys):
    assert main.main(["strategies"]) == 0
    shown = capsys.readouterr().out
    for name, strategy in STRATEGIES.items():
        assert name in shown
        assert (strategy.__doc__ or "").split()[0] in shown


@pytest.mark.parametrize("data", demo.DATA)
def test_the_demo_prints_its_tables_and_draws(data, capsys):
    assert main.main(["demo", "--data", data, "--to", "a.png", *SMALL]) == 0
    shown, err = capsys.readouterr()
    assert not err
    for part in ("it thought", "difference in points", "random", "The picture is in a.png"):
        assert part in shown
    assert Path("a.png").read_bytes().startswith(PNG)
    assert files() == ["a.png"]


def test_a_person_at_a_terminal_sees_a_bar(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main.main(["demo", *SMALL]) == 0
    assert "Asking and answering" in capsys.readouterr().err


def test_a_picture_that_is_a_folder_is_refused(capsys):
    Path("a.png").mkdir()
    assert main.main(["demo", "--to", "a.png"]) == 2
    assert "to must be a file; got the folder 'a.png'." in capsys.readouterr().err


@pytest.mark.parametrize("place", ["f/a.png", "f/g/a.png"])
def test_a_picture_in_what_is_a_file_is_refused(place, capsys):
    Path("f").touch()
    assert main.main(["demo", "--to", place]) == 2
    sentence = f"to must be in a folder; got {place!r}, and 'f' is a file. Choose another"
    assert sentence in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_refused(capsys, monkeypatch):
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "touch", refuse)
    assert main.main(["demo"]) == 2
    assert "a folder that can be written; got 'possibal-demo.png' (Permission denied)." in (
        capsys.readouterr().err
    )


def test_a_disk_that_fills_up_is_told_and_leaves_no_file(capsys, monkeypatch):
    def full(path: Path, _content: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main.main(["demo", *SMALL]) == 2
    assert capsys.readouterr().err.startswith("possibal: No space left on device: ")
    assert not files()


def test_a_bug_shows_its_traceback(monkeypatch):
    def broken(_outcome: object) -> bytes:
        raise ValueError("not the user's fault")

    monkeypatch.setattr(demo_figure, "picture", broken)
    with pytest.raises(ValueError, match="not the user's fault"):
        main.main(["demo", *SMALL])
