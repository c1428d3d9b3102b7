"""Every kind of input that users have: in Python, at a terminal, and in the page."""

import csv
import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest
from playwright.sync_api import expect
from support.browser import counted, needs_browser, visit
from support.inputs import CLASSES, KINDS, TOOLS, InputKind, documented
from support.served import Server, get, post, secured, visited

from possibal import Campaign, load_model, open_campaign
from possibal.cli import main
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.store import Store

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/inputs.md").read_text(encoding="utf-8")
BY_NAME = {kind.name: kind for kind in KINDS}
TOLD = 6
"""Rows that are labelled."""
MOSTLY = 0.75
"""Share of rows whose label is predicted after that, at least."""

IN_MEMORY = [kind for kind in KINDS if kind.save is not None]


def shown(kind: InputKind) -> list[pytest.MarkDecorator]:
    """What tests of a kind say of tools and formats."""
    if kind.name not in TOOLS:
        return []
    tool, package = TOOLS[kind.name]
    what = f"rows to label: {kind.name}"
    return [pytest.mark.works_with(tool, what, package)]


each_kind = pytest.mark.parametrize(
    "kind", [pytest.param(kind, id=kind.name, marks=shown(kind)) for kind in KINDS]
)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def truths(kind: InputKind, names) -> list[str]:
    """The true label of each row."""
    return [kind.label(place, name) for place, name in enumerate(names)]


def is_mostly(found, wanted) -> bool:
    """Whether most of the labels are right."""
    return bool(
        np.mean([str(one) == other for one, other in zip(found, wanted, strict=True)]) >= MOSTLY
    )


def understood(setup) -> dict[str, str]:
    """The kind of each column."""
    return {name: kind for name, kind, _ in setup.columns}


# ---------------------------------------------------------------- the documentation
def test_the_documentation_lists_each_kind_with_what_comes_of_it():
    assert documented() in PAGE, "python -m support.inputs prints the table anew"


def test_there_are_kinds_enough_and_each_has_a_name_of_its_own():
    assert len(BY_NAME) == len(KINDS) >= 20


# ---------------------------------------------------------------- in Python
def work_with(campaign, kind: InputKind, pool) -> None:
    """Ask, tell, predict and look, as everybody does."""
    assert (campaign.rows[:3], len(campaign.rows)) == (kind.reading.ids, kind.rows)
    assert [type(one) for one in campaign.rows[:3]] == [type(one) for one in kind.reading.ids]
    assert len(campaign.labels) == kind.known
    label = dict(zip(campaign.rows, truths(kind, campaign.rows), strict=True))
    for _ in range(TOLD):
        (row,) = campaign.ask()
        campaign.tell(row, label[row])
    assert campaign.labels.items() <= label.items()
    assert len(campaign.labels) == kind.known + TOLD
    assert is_mostly(campaign.predict(pool), label.values())
    frame = campaign.to_frame("pandas")
    assert frame["id"].tolist() == list(campaign.rows)
    assert frame["label"].dropna().tolist() == [
        campaign.labels[row] for row in campaign.rows if row in campaign.labels
    ]


@each_kind
def test_in_python(kind, tmp_path):
    pool = kind.pool(tmp_path)
    with open_campaign(tmp_path / "a.db", pool, **kind.given) as campaign:
        work_with(campaign, kind, pool)
        kept = campaign.labels
    with Store.open(str(tmp_path / "a.db"), writes=False) as store:
        assert understood(store.setup()) == kind.reading.columns
        assert store.setup().kind == kind.shape
    with open_campaign(tmp_path / "a.db", kind.pool(tmp_path)) as campaign:
        assert campaign.labels == kept


@pytest.mark.parametrize("kind", IN_MEMORY, ids=lambda kind: kind.name)
def test_in_memory_alone(kind, tmp_path):
    pool = kind.pool(tmp_path)
    work_with(Campaign.start(pool, **kind.given), kind, pool)


# ---------------------------------------------------------------- at a terminal
def status(base: str) -> int:
    return httpx.get(base).status_code


def column(path: str, name: str) -> list[str]:
    """A column of a CSV file."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [line[name] for line in csv.DictReader(file)]


def possibal(*arguments: str) -> None:
    """A command that is to work."""
    assert main.main([*arguments]) == 0


@each_kind
def test_at_a_terminal(kind, tmp_path, capsys):
    path = str(kind.path(tmp_path))
    classes = ("--classes", ",".join(CLASSES))
    assert visited(status, path, "--db", "a.db", *classes, *kind.arguments) == (0, 200)
    said = capsys.readouterr().out
    with Store.open("a.db", writes=False) as store:
        setup, names = store.setup(), [item.id for item in store.items().values()]
    assert understood(setup) == kind.in_file.columns
    assert names[:3] == [str(one) for one in kind.in_file.ids]
    assert all(name in said for name in kind.in_file.columns)
    label = dict(zip(names, truths(kind, names), strict=True))
    told_and_exported(kind, label, capsys)
    named = kind.arguments if "--id" in kind.arguments else ()
    possibal("model", "a.db", "--to", "kept")
    possibal("predict", "kept", path, "--to", "new.csv", *named)
    assert column("new.csv", "id") == names
    assert is_mostly(column("new.csv", "label"), label.values())
    assert load_model("kept").predict(path).tolist() == column("new.csv", "label")


def told_and_exported(kind: InputKind, label: dict[str, str], capsys) -> None:
    """Bring the labels of the last rows in, and all labels out again."""
    lines = [f"{name},{label[name]}" for name in [*label][-TOLD:]]
    Path("known.csv").write_text("\n".join(["id,label", *lines]), encoding="utf-8")
    possibal("import", "known.csv", "a.db")
    capsys.readouterr()
    possibal("status", "a.db", "--json")
    assert json.loads(capsys.readouterr().out)["answered"] == kind.known + TOLD
    possibal("export", "a.db", "--to", "out.csv")
    told = dict(zip(column("out.csv", "id"), column("out.csv", "final"), strict=True))
    assert len(told) == kind.known + TOLD
    assert told.items() <= label.items()


@pytest.mark.parametrize("kind", IN_MEMORY, ids=lambda kind: kind.name)
def test_a_campaign_begun_in_python_goes_on_at_a_terminal(kind, tmp_path, capsys):
    with open_campaign("a.db", kind.pool(tmp_path), classes=CLASSES, **kind.given) as campaign:
        campaign.tell(campaign.rows[-1], CLASSES[1])
    assert visited(status, str(kind.path(tmp_path)), "--db", "a.db") == (0, 200)
    assert "Rows since last time: the same." in capsys.readouterr().out
    with open_campaign("a.db") as campaign:
        assert campaign.labels[campaign.rows[-1]] == CLASSES[1]


# ---------------------------------------------------------------- in the page
@contextmanager
def page_of(db: Path) -> Generator:
    """The page of a campaign, in this process."""
    with Store.open(str(db)) as store:
        read_model, setup = ReadModel(store), store.setup()
        ranker = InProcessRanker(read_model.X, setup.strategy, setup.seed, setup.geometry)
        scheduler = RankingScheduler(read_model, ranker, background=False)
        yield secured(LabellingService(read_model, scheduler))
        scheduler.close()


@each_kind
def test_in_the_page(kind, tmp_path):
    with open_campaign("a.db", kind.pool(tmp_path), classes=CLASSES, **kind.given) as campaign:
        names = campaign.rows
    with page_of(tmp_path / "a.db") as app:
        about = get(app, "/api/campaign").json()
        assert {one["name"]: one["kind"] for one in about["columns"]} == kind.reading.columns
        assert (about["kind"], about["rows"], about["classes"]) == (
            kind.shape,
            kind.rows,
            [*CLASSES],
        )
        last = kind.rows - 1
        asked = post(app, "ask", {"who": "Ann", "row": last}).json()["question"]["item"]
        assert asked["id"] == str(names[last]).rsplit("/", maxsplit=1)[-1]
        first = post(app, "ask", {"who": "Ann", "row": 0}).json()["question"]["item"]
        assert first["id"] == str(names[0]).rsplit("/", maxsplit=1)[-1]
        assert {one["name"]: one["value"] for one in first["fields"]} == kind.shown
        assert first["text"] == kind.text
        assert (first["image"] is None) == (kind.shape != "image")
        if kind.shape == "image":
            assert get(app, first["image"]).headers["content-type"] == "image/png"
        word = {"who": "Ann", "key": "0" * 32, "made": 1, "row": last, "kind": "label"}
        assert post(app, "answer", {**word, "label": "large"}).status == 200
        assert post(app, "ask", {"who": "Ann"}).json()["question"]["item"]["row"] != last
    with open_campaign("a.db") as campaign:
        assert campaign.labels[names[last]] == "large"
        assert len(campaign.labels) == kind.known + 1


@needs_browser
@pytest.mark.parametrize(
    "name",
    [
        "CSV with a column that names rows",
        "title, abstract and year",
        "CSV that lists pictures, with numbers beside them",
    ],
)
def test_what_a_person_sees(browser, tmp_path, name):
    kind = BY_NAME[name]
    path, names = kind.path(tmp_path), ("--classes", ",".join(CLASSES))
    with Server(str(path), *names, *kind.arguments, folder=tmp_path) as server:
        page = visit(browser, server)
        seen = page.get_by_test_id("row-id").inner_text()
        with Store.open(f"{path}.possibal.db", writes=False) as store:
            setup, items = store.setup(), store.items()
        (item,) = (one for one in items.values() if one.id == seen)
        cells = dict(zip(setup.fields, item.cells, strict=True))
        card = page.get_by_test_id("question")
        for field in kind.shown:
            line = card.locator("table.fields tr").filter(has_text=field)
            expect(line).to_contain_text(cells[field])
        if kind.text is not None:
            expect(card.locator("p.text")).to_have_text(cells[setup.text])
        if kind.shape == "image":
            assert (
                card.locator("img").evaluate("one => one.decode().then(() => one.naturalWidth)")
                == 16
            )
        page.keyboard.press("1")
        counted(page, 1)
        page.close()
