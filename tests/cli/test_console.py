import pytest

from possibal.cli.console import console, grid, mistakes
from possibal.errors import MistakeError


# ---------------------------------------------------------------- printing
def test_brackets_and_numbers_are_printed_as_they_stand(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    console().print("[red]3[/red]")
    assert capsys.readouterr().out == "[red]3[/red]\n"


def test_a_grid_has_its_title_heads_and_rows_and_sets_figures_to_the_right(capsys):
    table = grid("Fruit", [("kind", False), ("pieces", True)], [["pear", "3"], ["fig", "12"]])
    assert [column.justify for column in table.columns] == ["left", "right"]
    assert [column.no_wrap for column in table.columns] == [True, False]
    console().print(table)
    shown = capsys.readouterr().out
    assert shown.startswith("Fruit")
    for row in ("│ pear │      3 │", "│ fig  │     12 │"):
        assert row in shown


def test_a_very_long_name_leaves_room_for_what_is_said_of_it(capsys):
    rows = [["name " * 40, "text"], ["short", "number"]]
    console().print(grid("Columns", [("column", False), ("read as", False)], rows))
    printed = capsys.readouterr().out
    assert "name name" in printed
    assert "text" in printed
    assert "number" in printed


def test_a_grid_of_no_rows_has_its_heads(capsys):
    console().print(grid("Nothing", [("kind", False)], []))
    assert "kind" in capsys.readouterr().out


# ---------------------------------------------------------------- mistakes
@pytest.mark.parametrize("kind", [ValueError, TypeError])
def test_a_refusal_becomes_a_mistake_with_the_same_sentence(kind):
    with pytest.raises(MistakeError, match=r"^seed must be whole\.$") as e, mistakes():
        raise kind("seed must be whole.")
    assert isinstance(e.value.__cause__, kind)


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt, ArithmeticError])
def test_anything_else_goes_through(kind):
    with pytest.raises(kind), mistakes():
        raise kind


def test_what_is_no_mistake_passes():
    with mistakes():
        done = True
    assert done
