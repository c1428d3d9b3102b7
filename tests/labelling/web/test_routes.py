"""The routes: what the page needs, what it may not have, and what is written down about it."""

import csv
import gzip
import io
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from sqlite3 import connect

import pytest
from PIL import Image
from support.served import (
    HOST,
    KNOWN,
    get,
    pictures,
    post,
    secured,
    send,
    service_of,
    table,
)

from possibal.data.ingest import SourceSpec
from possibal.data.thumbnails import BROKEN
from possibal.labelling import label_files
from possibal.labelling.create import Options
from possibal.labelling.web import routes, serializers
from possibal.labelling.web.routes import STATIC
from possibal.labelling.web.security import JOIN_PATH, PLATFORM_PATH, SESSION_PATH
from possibal.labelling.web.thumbnails import ThumbnailCache

MOST_BYTES = 100_000
"""Of the whole page as it travels."""
TEXTS = sorted((STATIC / "texts").iterdir())
SVG = "http://www.w3.org/2000/svg"

pytest_plugins = ["support.postgres"]


def key(number: int) -> str:
    return f"{number:032x}"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page that nobody changes anything on."""
    folder = tmp_path_factory.mktemp("page")
    with service_of(SourceSpec(table(folder / "a.csv")), folder / "a.db") as service:
        yield secured(service)


@pytest.fixture
def service(tmp_path):
    wanted = SourceSpec(table(tmp_path / "a.csv"), classes=("yes", "no"))
    with service_of(wanted, tmp_path / "a.db", Options(people=2)) as made:
        yield made


@pytest.fixture
def app(service):
    return secured(service)


# ---------------------------------------------------------------- pictures
SECRET = b"a secret"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def shades(place):
    """A campaign about a folder of pictures, in which there is much else by now."""
    folder = pictures(place / "shades")
    with service_of(SourceSpec(folder, classes=("dark", "light")), place / "a.db") as made:
        (place / "outside.png").write_bytes(SECRET)
        for name in ("page.html", "drawing.svg"):
            (folder / name).write_bytes(SECRET)
        for name in ("fake.jpg", "fake.WEBP"):
            (folder / name).write_bytes(b"<script>alert(1)</script>")
        (folder / "link.png").symlink_to(place / "outside.png")
        (folder / "folder").symlink_to(place)
        (folder / "circle.png").symlink_to(folder / "circle.png")
        (folder / "disguised.png").symlink_to(folder / "page.html")
        (folder / "inside.png").mkdir()
        yield secured(made)


def tamper(place, path: str | None) -> None:
    """Let the first row have another picture, as somebody who can write to the file might."""
    with closing(connect(place / "a.db")) as other, other:
        other.execute("UPDATE items SET media = ? WHERE row = 0", [path])


def test_a_row_has_its_picture(shades, place):
    reply = get(shades, "/media/3")
    assert (reply.status, reply.headers["content-type"]) == (200, "image/png")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.body == (place / "shades/03.png").read_bytes()
    assert get(shades, "/api/rows/3").json()["question"]["item"]["image"] == "/media/3"


def test_a_row_has_a_thumbnail_that_browsers_keep(shades):
    reply = get(shades, "/media/3/thumbnail")
    assert (reply.status, reply.headers["content-type"]) == (200, "image/png")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "private, max-age=3600"
    assert Image.open(io.BytesIO(reply.body)).getpixel((3, 3)) == (43, 43, 3)
    known = (*KNOWN, ("If-None-Match", reply.headers["etag"]))
    again = send(shades, "GET", "/media/3/thumbnail", known)
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", reply.headers["etag"])
    assert send(shades, "GET", "/media/4/thumbnail", known).status == 200
    assert send(shades, "GET", "/media/3/thumbnail", [("Host", HOST)]).status == 401


def test_a_thumbnail_of_what_is_no_picture_is_refused_in_one_sentence(shades, place):
    tamper(place, "fake.jpg")
    reply = get(shades, "/media/0/thumbnail")
    assert reply.status == 409
    assert reply.headers["cache-control"] == "no-store"
    assert reply.json() == {"detail": BROKEN}
    assert b"fake" not in reply.body


def test_a_picture_that_goes_away_while_it_is_read_is_no_failure(shades, place, monkeypatch):
    def gone(*_):
        raise FileNotFoundError(place)

    tamper(place, "00.png")
    monkeypatch.setattr(ThumbnailCache, "thumbnail", gone)
    reply = get(shades, "/media/0/thumbnail")
    assert (reply.status, str(place).encode() in reply.body) == (409, False)


@pytest.mark.parametrize(("ending", "kind"), [(".jpg", "image/jpeg"), (".WEBP", "image/webp")])
def test_a_picture_is_called_what_its_ending_says_whatever_it_holds(shades, place, ending, kind):
    tamper(place, f"fake{ending}")
    reply = get(shades, "/media/0")
    assert (reply.status, reply.headers["content-type"]) == (200, kind)
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "../outside.png",
        "x/../../outside.png",
        "/etc/passwd",
        "/etc/passwd.png",
        "{place}/outside.png",
        "{place}/shades/01.png",
        "link.png",
        "folder/outside.png",
        "circle.png",
        "vanished.png",
        "page.html",
        "drawing.svg",
        "disguised.png",
        "inside.png",
        "",
        ".",
        "a\0.png",
        "a" * 5000 + ".png",
        None,
    ],
)
def test_no_other_file_is_given_away(shades, place, path):
    tamper(place, path and path.format(place=place))
    for size in ("", "/thumbnail"):
        reply = get(shades, f"/media/0{size}")
        assert (reply.status, list(reply.json())) == (404, ["detail"])
        assert SECRET not in reply.body
        assert str(place).encode() not in reply.body


def test_a_folder_that_moved_away_is_no_failure(shades, place):
    (place / "shades").rename(place / "elsewhere")
    assert get(shades, "/media/1").status == 404
    assert get(shades, "/api/rows/1").status == 200
    (place / "elsewhere").rename(place / "shades")
    assert get(shades, "/media/1").status == 200


def test_rows_of_a_table_have_no_picture(page):
    assert get(page, "/media/0").json() == {"detail": "This row has no picture."}


# ---------------------------------------------------------------- the page
class Tags(HTMLParser):
    """The tags of a page and what stands in scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags = list[tuple[str, dict[str, str | None]]]()
        self.inline = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] in {"script", "style"}:
            self.inline += data.strip()


def test_the_page_has_nothing_inline_and_nothing_from_elsewhere(page):
    reply = get(page, "/")
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    found = Tags()
    found.feed(reply.body.decode())
    assert not found.inline
    links = [given[name] for _, given in found.tags for name in ("src", "href") if name in given]
    assert "static/main.js" in links
    for link in links:
        assert re.match(r"#|/$|static/[a-z]", str(link)), link  # below whatever path it is at
        assert str(link).startswith("#") or get(page, f"/{str(link).strip('/')}").status == 200
    for tag, given in found.tags:
        assert tag not in {"style", "base", "iframe", "object", "embed", "form"}
        assert not [name for name in given if name == "style" or name.startswith("on")]


def test_the_page_is_small():
    files = [path for path in STATIC.rglob("*.*") if path not in TEXTS]
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in files}
    texts = max(len(gzip.compress(path.read_bytes())) for path in TEXTS)  # one language is loaded
    assert sum(sizes.values()) + texts <= MOST_BYTES, (sizes, texts)


SCRIPTS = sorted(STATIC.rglob("*.js"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_or_code_of_text(path):
    text = path.read_text(encoding="utf-8")
    parts = (
        r"innerHTML|outerHTML|insertAdjacentHTML|setHTML|document\.write|createContextualFragment"
        r"|srcdoc|\beval\b|new Function|\bFunction\(|javascript:|\bstyle=|setAttribute\(.style"
        r"|DOMParser|set(Timeout|Interval)\(\s*[\"'`]"
    )
    assert re.findall(parts, text) == []


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.*")), ids=lambda path: path.name)
def test_no_file_of_the_page_asks_elsewhere(path):
    text = path.read_text(encoding="utf-8").replace(SVG, "")
    assert re.findall(r"https?://|[\"'(]//|@import|wss?://", text) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_script_is_served_as_one_with_what_it_imports(page, path):
    reply = get(page, f"/static/{path.relative_to(STATIC).as_posix()}")
    assert reply.headers["content-type"].startswith("text/javascript")
    for name in re.findall(r"from \"([^\"]+)\"", path.read_text(encoding="utf-8")):
        assert (path.parent / name).is_file()


def test_long_replies_are_packed(page):
    packed = send(page, "GET", "/api/map", (*KNOWN, ("Accept-Encoding", "gzip")))
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == get(page, "/api/map").body


# ---------------------------------------------------------------- the description
def test_the_description_names_what_lets_in(page):
    said = get(page, "/openapi.json").json()
    (bearer, scheme), (key, other) = said["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert (other["type"], other["in"], other["name"]) == ("apiKey", "query", "key")
    for path, methods in said["paths"].items():
        for given in methods.values():
            wanted = None if path in {SESSION_PATH, JOIN_PATH} else [{bearer: []}, {key: []}]
            assert given.get("security") == wanted
            assert {"401", "403", "422"} <= set(given["responses"])


def test_every_route_but_the_page_is_described(app):
    written = Path(routes.__file__).read_text()
    assert written.count("include_in_schema=False") == 1
    paths = get(app, "/openapi.json").json()["paths"]
    here = [path for path in paths if not path.startswith(PLATFORM_PATH)]
    assert len(here) == written.count("@app.") - 1


# ---------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("verb", "body", "words"),
    [
        ("ask", {"who": "ann", "row": 40}, "row must be from 0 to 39; got 40."),
        ("answer", {"row": 40, "kind": "skip"}, "row must be from 0 to 39; got 40."),
        ("answer", {"row": 0, "others": [0], "kind": "skip"}, "others must be other rows than 0"),
        ("answer", {"row": 0, "others": [3, 40], "kind": "skip"}, "row must be from 0 to 39"),
        ("answer", {"row": 0, "kind": "label"}, "label must name a class; got None."),
        ("answer", {"row": 0, "kind": "label", "label": "maybe"}, "label must be one of"),
        ("answer", {"row": 0, "kind": "settle", "label": "maybe"}, "label must be one of"),
    ],
)
def test_what_the_campaign_cannot_take_is_refused_in_its_sentence(app, verb, body, words):
    given = body if verb == "ask" else {"key": key(1), "who": "ann", "made": 1, **body}
    reply = post(app, verb, given)
    assert reply.status == 409
    assert reply.json()["detail"].startswith(words)
    assert get(app, "/api/history").json()["entries"] == []


def test_a_row_that_somebody_has_is_refused(app):
    assert post(app, "ask", {"who": "ann", "row": 5}).status == 200
    reply = post(app, "ask", {"who": "ben", "row": 5})
    assert (reply.status, reply.json()["detail"]) == (
        409,
        "row must be free; got '5', which somebody has. Pick another.",
    )


def test_nobody_undoes_what_others_did(app):
    body = {"key": key(1), "who": "ann", "made": 1, "row": 0, "kind": "label", "label": "yes"}
    assert post(app, "answer", body).status == 200
    reply = post(app, "undo", {"key": key(2), "who": "ben", "made": 2, "target": key(1)})
    assert (reply.status, "Undo your own." in reply.json()["detail"]) == (409, True)


def test_a_database_that_does_not_take_an_answer_is_told(app, tmp_path):
    body = {"key": key(1), "who": "ann", "made": 1, "row": 0, "kind": "label", "label": "yes"}
    with closing(connect(tmp_path / "a.db")) as other, other:
        other.execute("ALTER TABLE events RENAME TO kept")
    reply = post(app, "answer", body)
    assert (reply.status, list(reply.json())) == (503, ["detail"])
    with closing(connect(tmp_path / "a.db")) as other, other:
        other.execute("ALTER TABLE kept RENAME TO events")
    assert post(app, "answer", body).json()["repeated"] is False
    assert post(app, "answer", body).json()["repeated"] is True


@pytest.fixture(name="away")
def _away(postgresql, postgres_server, tmp_path):
    """A page on a server, and what makes the database be away, or be there again."""
    wanted = SourceSpec(table(tmp_path / "a.csv"), classes=("yes", "no"))
    name = postgresql.rpartition("/test_")[2].partition("?")[0]

    def be_away(*, is_away: bool) -> None:
        postgres_server.execute(f"ALTER DATABASE test_{name} ALLOW_CONNECTIONS {not is_away}")
        postgres_server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608 - ours
            f"WHERE datname = 'test_{name}'"
        )

    with service_of(wanted, postgresql) as made:
        yield secured(made), be_away


def test_a_database_that_is_away_is_told_on_every_route_and_nothing_is_lost(away):
    app, be_away = away
    body = {"key": key(1), "who": "ann", "made": 1, "row": 0, "kind": "label", "label": "yes"}
    who, paths = {"who": "ann"}, get(app, "/openapi.json").json()["paths"]
    be_away(is_away=True)
    replies = [post(app, "answer", body), post(app, "ask", who), post(app, "renew", who)]
    replies.append(post(app, "spare", {**who, "count": 2}))
    replies.append(post(app, "undo", {**who, "key": key(3), "made": 3, "target": key(1)}))
    for reply in (*replies, get(app, "/api/labels.csv"), get(app, "/media/0")):
        assert (reply.status, reply.error) == (503, None)
        assert reply.headers["retry-after"] == "2"
        assert "\n" not in reply.json()["detail"]
    looks = [path for path in paths if "get" in paths[path] and not path.startswith(PLATFORM_PATH)]
    shown = [get(app, path.format(row=0, key=key(1))) for path in looks]
    assert {reply.status for reply in shown} <= {200, 404, 409, 422, 503}
    assert all(reply.error is None for reply in shown)
    be_away(is_away=False)
    assert post(app, "answer", body).json()["repeated"] is False
    assert post(app, "ask", who).status == 200


# ---------------------------------------------------------------- verbs
def test_an_answer_brings_the_next_question_if_it_is_wanted(app):
    body = {"key": key(1), "who": "ann", "made": 1, "row": 0, "kind": "label", "label": "yes"}
    silent = post(app, "answer", {**body, "next": False}).json()
    told = {"repeated": False, "counts": True, "left_out": []}
    assert silent == {"question": None, "reason": None, "complete": False, **told}
    again = post(app, "answer", body).json()
    assert again["repeated"] is True
    assert again["question"]["item"]["row"] != 0


def test_an_answer_may_be_about_several_rows_and_is_undone_as_one(app):
    body = {"key": key(1), "who": "ann", "made": 1, "row": 0, "kind": "label", "label": "yes"}
    reply = post(app, "answer", {**body, "others": [4, 2.0]}).json()
    assert reply["question"]["item"]["row"] not in {0, 2, 4}
    (entry,) = get(app, "/api/history").json()["entries"]
    assert (entry["row"], entry["others"], entry["label"]) == (0, 2, "yes")
    assert get(app, "/api/progress").json()["answered"] == 3
    sheet = get(app, "/api/labels.csv").body.decode().splitlines()
    assert [line.partition(",")[0] for line in sheet[1:]] == ["0", "2", "4"]
    undone = post(app, "undo", {"key": key(2), "who": "ann", "made": 2}).json()
    assert (undone["said"], undone["question"]["item"]["row"]) == ("yes, and 2 other rows", 0)
    assert get(app, "/api/progress").json()["answered"] == 0


@pytest.mark.parametrize(
    "others", [[1.5], [-1], ["1"], [True], 1, None, list(range(1, 1002)), [2**31]]
)
def test_others_that_are_no_places_are_refused_in_one_sentence(app, others):
    body = {"key": key(1), "who": "ann", "made": 1, "row": 0, "kind": "skip", "others": others}
    reply = post(app, "answer", body)
    assert (reply.status, reply.json()["detail"].startswith("others")) == (422, True)


@pytest.mark.parametrize("kind", ["skip", "unsure", "bad"])
def test_a_label_beside_something_else_is_left_out(app, kind):
    body = {"key": key(1), "who": "ann", "made": 1, "row": 0, "kind": kind, "label": "yes"}
    assert post(app, "answer", body).status == 200
    (entry,) = get(app, "/api/history").json()["entries"]
    assert (entry["kind"], entry["label"]) == (kind, None)


def test_undo_without_anything_to_undo_says_so(app):
    reply = post(app, "undo", {"key": key(1), "who": "ann", "made": 1})
    assert reply.json() == {"target": None, "said": None, "question": None}


def test_an_undo_may_arrive_before_what_it_undoes(app):
    undo = {"key": key(2), "who": "ann", "made": 2, "target": key(1)}
    nothing_yet = {"target": key(1), "said": None, "question": None}
    assert post(app, "undo", undo).json() == nothing_yet
    body = {"key": key(1), "who": "ann", "made": 1, "row": 0, "kind": "label", "label": "yes"}
    assert post(app, "answer", body).status == 200
    assert get(app, "/api/history").json()["entries"][0]["holds"] is False
    assert get(app, "/api/progress").json()["answered"] == 0


def test_a_class_that_was_added_can_be_taken_back_by_its_key(app):
    given = {"key": key(1), "who": "ann", "made": 1, "label": "may be"}
    assert post(app, "classes", given).json()["classes"] == ["yes", "no", "may be"]
    undo = {"key": key(2), "who": "ann", "made": 2, "target": key(1)}
    undone = {"target": key(1), "said": "class “may be” added", "question": None}
    assert post(app, "undo", undo).json() == undone
    assert get(app, "/api/campaign").json()["classes"] == ["yes", "no"]


# ---------------------------------------------------------------- classes
def changed(app, path: str, number: int, **given):
    """What the page is told after a change."""
    return post(app, path, {"key": key(number), "who": "ann", "made": number, **given})


def test_classes_are_renamed_merged_removed_and_described(app):
    row = {"key": key(1), "who": "ann", "made": 1, "row": 0, "kind": "label", "label": "yes"}
    post(app, "answer", row)
    changed(app, "classes/describe", 2, label="yes", description="Surely.", colour="#00aa00")
    changed(app, "classes/describe", 3, label="yes", description="Quite so.")
    told = changed(app, "classes/rename", 4, label="yes", to="ja").json()
    assert told == {
        "classes": ["ja", "no"],
        "catalogue": [
            {"name": "ja", "description": "Quite so.", "colour": "#00aa00", "rows": 1},
            {"name": "no", "description": "", "colour": "", "rows": 0},
        ],
    }
    assert changed(app, "classes/remove", 5, label="no").json()["classes"] == ["ja"]
    changed(app, "classes", 6, label="nein")
    refused = changed(app, "classes/rename", 7, label="ja", to="nein")
    assert (refused.status, "Merge the two" in refused.json()["detail"]) == (409, True)
    merged = changed(app, "classes/rename", 8, label="ja", to="nein", merge=True).json()
    assert merged["classes"] == ["nein"]
    used = changed(app, "classes/remove", 9, label="nein")
    assert (used.status, "1 row has" in used.json()["detail"]) == (409, True)
    said = [
        post(app, "undo", {"key": key(n), "who": "ann", "made": n}).json()["said"]
        for n in range(10, 17)
    ]
    assert said == [
        "class “ja” merged with “nein”",
        "class “nein” added",
        "class “no” removed",
        "class “yes” renamed to “ja”",
        "class “yes” described",
        "class “yes” described",
        "yes",
    ]
    campaign = get(app, "/api/campaign").json()
    assert [one["name"] for one in campaign["catalogue"]] == campaign["classes"] == ["yes", "no"]
    assert get(app, "/api/progress").json()["catalogue"] == campaign["catalogue"]


def test_a_change_that_is_sent_again_is_made_once(app):
    for _ in range(2):
        assert changed(app, "classes/remove", 1, label="no").json()["classes"] == ["yes"]


# ---------------------------------------------------------------- check rows
def test_more_check_rows_are_drawn(app):
    before = get(app, "/api/progress").json()["check"]
    assert before == {"answered": 0, "size": 0, "more": 20}
    for _ in range(2):
        told = changed(app, "check", 1, count=5).json()
        assert told == {"drawn": 5, "check": {"answered": 0, "size": 5, "more": 15}}
    assert get(app, "/api/campaign").json()["check"] == 5
    assert changed(app, "check", 2, count=16).status == 409
    undone = post(app, "undo", {"key": key(3), "who": "ann", "made": 3}).json()
    assert undone["said"] == "5 more check rows"
    assert get(app, "/api/campaign").json()["check"] == 0


# ---------------------------------------------------------------- rows by name
def test_a_row_is_found_by_its_id_or_the_nearest_are_offered(app):
    assert get(app, "/api/find?id=7").json() == {"row": 7, "near": []}
    found = get(app, "/api/find?id=41").json()
    assert found["row"] is None
    assert {"row": 4, "id": "4"} in found["near"]
    points = get(app, "/api/map").json()["points"]
    assert {point["id"] for point in points if point["row"] == 6} == {"6"}


# ---------------------------------------------------------------- the file of labels
def test_labels_leave_as_a_file(app):
    for number, label in enumerate(["yes", "no", "yes"], start=1):
        body = {"key": key(number), "who": "ann, müller", "made": number, "row": number}
        post(app, "answer", {**body, "kind": "label", "label": label})
    reply = get(app, "/api/labels.csv")
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    assert reply.headers["content-disposition"] == 'attachment; filename="labels.csv"'
    lines = list(csv.DictReader(io.StringIO(reply.body.decode())))
    assert [(line["id"], line["label"], line["who"]) for line in lines] == [
        ("1", "yes", "ann, müller"),
        ("2", "no", "ann, müller"),
        ("3", "yes", "ann, müller"),
    ]


def test_files_of_all_answers_are_made_a_few_at_once_and_others_are_told_to_come_again(
    app, monkeypatch
):
    there, go = threading.Semaphore(0), threading.Event()
    plain = label_files.export_file

    def slow(*given, **named):
        there.release()
        assert go.wait(30)
        return plain(*given, **named)

    monkeypatch.setattr(label_files, "export_file", slow)
    with ThreadPoolExecutor(routes.EXPORTS) as others:
        first = [others.submit(get, app, "/api/labels.csv") for _ in range(routes.EXPORTS)]
        for _ in first:
            assert there.acquire(timeout=30)
        refused = get(app, "/api/labels.csv")
        assert (refused.status, refused.headers["retry-after"]) == (503, "2")
        assert refused.json()["detail"].startswith("labels.csv must be fetched by at most 2 at")
        go.set()
        assert {one.result().status for one in first} == {200}
    assert get(app, "/api/labels.csv").status == 200


def test_all_rows_leave_as_a_file_with_what_is_predicted(app):
    for row, label in ((0, "yes"), (1, "no"), (2, "yes"), (3, "no")):
        body = {"key": key(row), "who": "ann", "made": row, "row": row, "kind": "label"}
        post(app, "answer", {**body, "label": label})
    get(app, "/api/confirm?who=ann")  # which waits for the ranking
    reply = get(app, "/api/rows.csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="rows.csv"'
    lines = list(csv.DictReader(io.StringIO(reply.body.decode())))
    assert len(lines) == 40
    assert {line["predicted"] for line in lines} == {"yes", "no"}


def test_names_that_a_spreadsheet_would_run_are_marked(app):
    body = {"key": key(1), "who": "=1+1", "made": 1, "row": 1, "kind": "label", "label": "yes"}
    post(app, "answer", body)
    (line,) = csv.DictReader(io.StringIO(get(app, "/api/labels.csv").body.decode()))
    assert line["who"] == "'=1+1"


def test_before_the_first_label_the_file_has_only_its_heads(page):
    reply = get(page, "/api/labels.csv")
    assert (reply.status, reply.body.count(b"\n")) == (200, 1)


# ---------------------------------------------------------------- many at once
def test_many_rows_are_confirmed_at_once(app):
    assert get(app, "/api/confirm").status == 409
    for row, label in ((0, "yes"), (1, "no"), (2, "yes"), (3, "no")):
        body = {"key": key(row), "who": "ann", "made": row, "row": row, "kind": "label"}
        assert post(app, "answer", {**body, "label": label}).status == 200
    found = get(app, "/api/confirm?who=ann&count=5").json()
    assert [one["label"] for one in found["classes"]] == ["yes", "no"]
    assert sum(one["rows"] for one in found["classes"]) == 36
    assert found["more"] is True
    rows = [one["item"]["row"] for one in found["rows"]]
    assert (len(rows), set(rows) & {0, 1, 2, 3}) == (5, set())
    assert all(0.5 <= one["chance"]["value"] <= 1 for one in found["rows"])
    body = {"key": key(9), "who": "ann", "made": 9, "kind": "label", "label": found["label"]}
    assert post(app, "answer", {**body, "row": rows[0], "others": rows[1:]}).status == 200
    after = get(app, f"/api/confirm?who=ann&label={found['label']}&count=60").json()["rows"]
    assert not {one["item"]["row"] for one in after} & set(rows)


def test_all_rows_are_listed_with_their_labels_and_what_is_predicted(app):
    for row, label in ((0, "yes"), (1, "no"), (2, "yes"), (3, "no")):
        body = {"key": key(row), "who": "ann", "made": row, "row": row, "kind": "label"}
        assert post(app, "answer", {**body, "label": label}).status == 200
    get(app, "/api/confirm?who=ann")  # which waits for the ranking
    found = get(app, "/api/rows?count=40").json()
    assert [one["item"]["row"] for one in found["rows"]] == list(range(40))
    assert (found["count"], found["looked_at"], found["fitting"]) == (40, None, False)
    first, last = found["rows"][0], found["rows"][-1]
    assert (first["label"], first["people"], first["state"]) == ("yes", ["ann"], "labelled")
    assert (last["label"], last["people"], last["state"]) == (None, [], "open")
    assert last["predicted"]["label"] in {"yes", "no"}
    assert 0.5 <= last["predicted"]["chance"]["value"] <= 1
    assert (last["other"], last["copy_of"], last["copies"], last["check"]) == (None, None, 0, False)
    named = get(app, f"/api/rows?text={last['item']['id']}").json()
    assert last["item"]["row"] in [one["item"]["row"] for one in named["rows"]]
    for query, words in (
        ("state=lost", "state must"),
        ("sort=size", "sort must"),
        ("count=201", "count must"),
        ("first=-1", "first must"),
    ):
        reply = get(app, f"/api/rows?{query}")
        assert (reply.status, reply.json()["detail"].startswith(words)) == (422, True), query


def test_the_rows_of_one_answer_are_listed_with_the_labels_they_have_now(app):
    body = {"key": key(1), "who": "ann", "made": 1, "row": 5, "kind": "label", "label": "yes"}
    post(app, "answer", {**body, "others": [7, 6]})
    edit = {"key": key(2), "who": "ann", "made": 2, "row": 7, "kind": "edit", "label": "no"}
    post(app, "answer", edit)
    found = get(app, f"/api/events/{key(1)}").json()
    said = [(one["item"]["row"], one["label"]) for one in found["rows"]]
    assert (said, found["left"]) == ([(5, "yes"), (7, "no"), (6, "yes")], 0)


def test_of_an_answer_about_very_many_rows_the_first_are_listed(app, monkeypatch):
    monkeypatch.setattr(serializers, "LISTED", 3)
    body = {"key": key(1), "who": "ann", "made": 1, "row": 5, "kind": "label", "label": "yes"}
    post(app, "answer", {**body, "others": list(range(10, 20))})
    found = get(app, f"/api/events/{key(1)}").json()
    assert (len(found["rows"]), found["left"]) == (3, 8)


def test_what_is_about_no_row_has_none_to_list(app):
    changed(app, "classes", 1, label="may be")
    for one in (key(1), key(2)):
        assert get(app, f"/api/events/{one}").status == 409


@pytest.mark.parametrize("query", ["count=61", "count=0", "first=-1", f"label={'x' * 201}"])
def test_pages_of_rows_to_confirm_are_bounded(page, query):
    assert get(page, f"/api/confirm?{query}").status == 422


# ---------------------------------------------------------------- rows close to one
@pytest.fixture
def close(tmp_path):
    """A campaign in which the rows 0 to 19 are alike, and so are all others; two are labelled."""
    lines = ["a,b", *(f"{10 * (row > 19)}.{row % 20:02},{row % 20 / 100}" for row in range(40))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    wanted = SourceSpec(tmp_path / "a.csv", classes=("yes", "no"))
    with service_of(wanted, tmp_path / "a.db") as made:
        app = secured(made)
        for row, label in ((0, "yes"), (20, "no")):
            body = {"key": key(row), "who": "ann", "made": row, "row": row, "kind": "label"}
            post(app, "answer", {**body, "label": label})
        made.scheduler.rank()
        yield app


def test_rows_close_to_one_are_shown_and_labelled_together_but_for_those_with_a_label(close):
    found = get(close, "/api/rows/5/close?who=ann").json()
    rows = [one["item"]["row"] for one in found["rows"]]
    assert (found["label"], found["own"]["item"]["row"]) == ("yes", 5)
    assert 3 <= len(rows) <= 12
    assert set(rows) <= set(range(1, 20)) - {5}
    assert all(0.5 <= one["chance"]["value"] <= 1 for one in found["rows"])
    assert {one["copies"] for one in found["rows"]} == {0}
    body = {"key": key(98), "who": "bob", "made": 98, "row": rows[1], "kind": "label"}
    assert post(close, "answer", {**body, "label": "no"}).status == 200
    body = {"key": key(99), "who": "ann", "made": 99, "row": 5, "others": rows[:3], "kind": "label"}
    for repeated in (False, True):
        said = post(close, "answer", {**body, "label": "yes", "unlabelled": True}).json()
        assert (said["left_out"], said["repeated"]) == ([rows[1]], repeated)
    after = get(close, "/api/rows/5/close?who=ann").json()
    assert after["own"] is None
    assert not {one["item"]["row"] for one in after["rows"]} & {5, *rows[:3]}
    undone = post(close, "undo", {"key": key(100), "who": "ann", "made": 100}).json()
    assert undone["said"] == "yes, and 2 other rows"


def test_where_all_have_a_label_by_now_the_sentence_says_so(close):
    body = {"key": key(99), "who": "ann", "made": 99, "row": 0, "others": [20], "kind": "label"}
    reply = post(close, "answer", {**body, "label": "yes", "unlabelled": True})
    assert reply.status == 409
    assert reply.json()["detail"] == (
        "row must be without a label; got [0, 20], which have one by now, or somebody else is at "
        "them. Choose others."
    )


def test_where_people_answer_blind_nothing_is_said_of_predictions(tmp_path):
    wanted = SourceSpec(table(tmp_path / "a.csv"), classes=("yes", "no"))
    with service_of(wanted, tmp_path / "a.db", Options(blind=True)) as made:
        app = secured(made)
        for row, label in ((0, "yes"), (1, "no")):
            body = {"key": key(row), "who": "ann", "made": row, "row": row, "kind": "label"}
            post(app, "answer", {**body, "label": label})
        made.scheduler.rank()
        found = [get(app, f"/api/rows/{row}/close?who=ann").json() for row in range(2, 40)]
        assert {one["label"] for one in found} == {None}
        chances = {row["chance"] for one in found for row in (one["own"], *one["rows"])}
        assert chances == {None}
        assert any(one["rows"] for one in found)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("rows/40/close", 409, "row must be from 0 to 39; got 40."),
        ("rows/-1/close", 422, "row must be greater than or equal to 0; got '-1'."),
        ("rows/x/close", 422, "row must be"),
        (f"rows/1/close?who={'x' * 61}", 422, "who must"),
    ],
)
def test_a_row_that_is_none_has_none_close_to_it(close, path, status, words):
    reply = get(close, f"/api/{path}")
    assert (reply.status, reply.json()["detail"].startswith(words)) == (status, True)


def test_what_is_to_be_left_out_is_true_or_false(close):
    body = {"key": key(9), "who": "ann", "made": 9, "row": 1, "kind": "label", "label": "yes"}
    reply = post(close, "answer", {**body, "unlabelled": "yes"})
    assert reply.status == 422
    assert reply.json()["detail"].startswith("unlabelled must be a valid boolean; got 'yes'.")
