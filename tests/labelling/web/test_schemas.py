"""What people send is taken as it was meant or not at all."""

import json
from unicodedata import category, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from support.served import get, post, secured, service_of, table

from possibal.data.ingest import SourceSpec
from possibal.labelling.storage.journal import check_who
from possibal.labelling.web import schemas

KEY = "0123456789abcdef" * 2
FULL = {
    "ask": {"who": "ann", "row": None},
    "spare": {"who": "ann", "count": 2},
    "renew": {"who": "ann"},
    "answer": {
        "key": KEY,
        "who": "ann",
        "made": 1,
        "row": 0,
        "others": [3],
        "kind": "skip",
        "label": None,
    },
    "undo": {"key": KEY[::-1], "who": "ann", "made": 2, "target": None},
    "classes": {"key": "f" * 32, "who": "ann", "made": 3, "label": "may be"},
    "classes/describe": {
        "key": "e" * 32,
        "who": "ann",
        "made": 4,
        "label": "may be",
        "description": "In doubt.",
        "colour": "#3366CC",
    },
    "classes/rename": {"key": "d" * 32, "who": "ann", "made": 5, "label": "may be", "to": "maybe"},
    "classes/remove": {"key": "c" * 32, "who": "ann", "made": 6, "label": "maybe"},
    "check": {"key": "b" * 32, "who": "ann", "made": 7, "count": 2},
}
"""A sound body for each verb."""
OPTIONAL = {
    ("ask", "row"),
    ("spare", "count"),
    ("answer", "label"),
    ("answer", "others"),
    ("undo", "target"),
    ("classes/describe", "description"),
    ("classes/describe", "colour"),
}
"""Fields that may be left out."""
NO_TEXT = [None, 1, 1.5, True, [], ["ann"], {}, {"a": 1}]
NO_NUMBER = ["1", "", True, False, 1.5, -1, 2**63, 2**64, 10**30, [], [1], {}]
BAD_NAMES = [
    "",
    " ",
    " ann",
    "ann ",
    "\tann",
    "ann\n",
    "a\x00b",
    "a\x1bb",
    "a\x7fb",
    "a\x85b",
    "\u00a0ann",
    "ann\u2003",
    "\u2028",
    "a" * 61,
    "\ud800",
    "ann\udfff",
]
BAD = {
    "who": [*NO_TEXT, *BAD_NAMES],
    "label": [*NO_TEXT[1:], *BAD_NAMES[:-3], "a" * 10_051, "\ud800"],
    "key": [*NO_TEXT, "", KEY[1:], KEY + "0", KEY.upper(), "g" * 32, f"{KEY}\n", f" {KEY[1:]}"],
    "target": [*NO_TEXT[1:], "", KEY[1:], "g" * 32, f"{KEY}\n"],
    "row": [*NO_NUMBER, 2**31],
    "others": [None, 1, "1", "", {}, True, list(range(1001))],
    "made": [*NO_NUMBER, None, 2**53 + 1],
    "count": [*NO_NUMBER, None, 0],
    "kind": [*NO_TEXT, "", "LABEL", "import", "undo", "class", "label "],
    "next": [None, 0, 1, "true", "", []],
    "merge": [None, 0, 1, "true", "", []],
    "to": [*NO_TEXT, *BAD_NAMES[:-3], "a" * 201, "\ud800"],
    "description": [*NO_TEXT[1:], "a\nb", "\x00", "a" * 301, "\ud800"],
    "colour": [*NO_TEXT[1:], "red", "#12345", "#1234567", "#12345g", "#123456\n", " #123456"],
}
"""Values that a field must not have."""
MORE_BAD = {("spare", "count"): [51]}
"""Those of one verb alone."""
CASES = [
    (verb, name, value)
    for verb, body in FULL.items()
    for name in ({**body, "next": True} if verb == "answer" else body)
    for value in [*BAD[name], *MORE_BAD.get((verb, name), [])]
    if not (verb == "classes" and name == "label" and value is None)
]


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes")
    wanted = SourceSpec(table(folder / "a.csv"), classes=("yes", "no"))
    with service_of(wanted, folder / "a.db") as service:
        yield secured(service)


def is_refusal(reply, *statuses: int) -> bool:
    """Whether a reply says in one sentence what is wrong."""
    said = reply.json()["detail"]
    return (
        reply.status in (statuses or (422,))
        and reply.error is None
        and list(reply.json()) == ["detail"]
        and isinstance(said, str)
        and 0 < len(said) < 400
        and said.isprintable()
    )


@pytest.mark.parametrize("verb", FULL)
def test_what_is_meant_is_taken(app, verb):
    assert post(app, verb, FULL[verb]).status == 200


@pytest.mark.parametrize(("verb", "name", "value"), CASES)
def test_a_value_that_is_none_of_those_meant_is_refused(app, verb, name, value):
    reply = post(app, verb, {**FULL[verb], name: value})
    assert is_refusal(reply), reply.body
    assert reply.json()["detail"].startswith(f"{name} must ")
    assert reply.json()["detail"].endswith(". Correct it.")


@pytest.mark.parametrize("verb", FULL)
@pytest.mark.parametrize("name", ["admin", "", "Who", "\ud800", "a" * 5000, "\x00", "__class__"])
def test_a_field_that_nobody_knows_is_refused(app, verb, name):
    reply = post(app, verb, {**FULL[verb], name: 1})
    assert is_refusal(reply), reply.body


@pytest.mark.parametrize(("verb", "name"), [(v, n) for v in FULL for n in FULL[v]])
def test_a_field_that_is_needed_must_be_there(app, verb, name):
    body = {one: value for one, value in FULL[verb].items() if one != name}
    reply = post(app, verb, body)
    if (verb, name) in OPTIONAL:
        assert reply.status == 200
    else:
        assert is_refusal(reply)
        assert f"{name} must be given" in reply.json()["detail"]


RAW = {
    "nothing": b"",
    "a space": b" ",
    "no JSON": b"who=ann",
    "half of it": b'{"who": "ann"',
    "two of them": b'{"who": "ann"}{"who": "ann"}',
    "null": b"null",
    "a list": b'[{"who": "ann"}]',
    "a text": b'"ann"',
    "a number": b"1",
    "not a number": b'{"who": "ann", "row": NaN}',
    "without end": b'{"who": "ann", "row": Infinity}',
    "a huge power": b'{"who": "ann", "row": 1e400}',
    "five thousand digits": b'{"who": "ann", "row": ' + b"9" * 5000 + b"}",
    "no UTF-8": b'{"who": "\xff\xfe"}',
    "a bare NUL": b'{"who": "a\x00b"}',
    "a NUL in words": rb'{"who": "a\u0000b"}',
    "half a pair": rb'{"who": "\ud800"}',
    "half a pair as name": rb'{"who": "ann", "\ud800": 1}',
    "deep lists": b'{"who": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "deep objects": b'{"who":' * 7_000 + b"1" + b"}" * 7_000,
    "lists that are just not too deep": b'{"who": ' + b"[" * 900 + b"]" * 900 + b"}",
    "only lists": b"[" * 60_000,
}


@pytest.mark.parametrize("verb", FULL)
@pytest.mark.parametrize("what", RAW)
def test_what_is_no_sound_body_is_refused(app, verb, what):
    reply = post(app, verb, RAW[what])
    assert is_refusal(reply, 400, 422), reply.body[:500]


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/html",
        "",
        "x",
    ],
)
def test_another_type_of_content_is_refused(app, kind):
    assert is_refusal(post(app, "renew", {"who": "ann"}, kind), 400, 415, 422)


def test_the_sentence_is_for_people(app):
    said = {
        "who": post(app, "renew", {"who": " ann"}).json()["detail"],
        "row": post(app, "ask", {"who": "ann", "row": "7"}).json()["detail"],
        "all": post(app, "ask", b"{").json()["detail"],
    }
    assert said["who"] == (
        "who must be without control characters, and without a space at its ends; got ' ann'. "
        "Correct it."
    )
    assert said["row"] == "row must be a valid integer; got '7'. Correct it."
    assert said["all"].startswith("request must be JSON; got ")


def test_a_name_given_twice_in_an_object_counts_once(app):
    assert post(app, "renew", b'{"who": 1, "who": "ann"}').status == 200


def test_a_whole_number_may_be_written_with_a_point(app):
    assert post(app, "ask", b'{"who": "ann", "row": 3.0}').json()["question"]["item"]["row"] == 3


@pytest.mark.parametrize(
    "query",
    [
        f"who={'a' * 61}",
        f"label={'a' * 201}",
        f"text={'a' * 201}",
        "kind=nothing",
        "kind=",
        "before=-1",
        f"before={2**63}",
        f"before={'9' * 5000}",
        "before=x",
        "limit=0",
        "limit=201",
        "limit=1.5",
        "limit=NaN",
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(app, query):
    assert is_refusal(get(app, f"/api/history?{query}"))


@pytest.mark.parametrize("query", ["who=%00", "text=%ff", "label=%ED%A0%80", "who=a&who=b", "x=1"])
def test_a_filter_that_fits_nothing_is_fine(app, query):
    assert get(app, f"/api/history?{query}").status == 200


@pytest.mark.parametrize(
    "row", ["-1", str(2**31), str(2**63), "9" * 5000, "x", "1.5", "NaN", "%00", "0x1", "true"]
)
@pytest.mark.parametrize("path", ["/media/", "/api/rows/"])
def test_a_place_that_is_none_is_refused(app, path, row):
    assert is_refusal(get(app, f"{path}{row}"))


# ---------------------------------------------------------------- any text at all
@given(st.text(max_size=70))
def test_a_name_is_taken_exactly_if_it_can_be_read_and_told_from_others(text):
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    fine = 0 < len(text) <= 60 and text == text.strip() and not unseen & set(map(category, text))
    try:
        taken = TypeAdapter(schemas.Name).validate_python(text, strict=True)
    except ValidationError:
        assert not fine
    else:
        assert fine
        assert taken == normalize("NFC", text)
        assert json.loads(schemas.RenewIn(who=text).model_dump_json()) == {"who": taken}
        check_who(taken)


@pytest.mark.parametrize("name", ["山田\u3000太郎", "Zoë\u00a0Müller"])
def test_spaces_of_all_scripts_are_part_of_names(name):
    assert schemas.RenewIn(who=name).who == name
    check_who(name)


@given(st.integers() | st.floats(allow_nan=True))
def test_a_row_is_a_number_without_a_fraction_that_a_database_can_hold(number):
    fine = number == number and abs(number) < 2**31 and number >= 0 and number == int(number)  # noqa: PLR0124 - what is no number is not itself
    try:
        taken = TypeAdapter(schemas.Row).validate_python(number, strict=True)
    except ValidationError:
        assert not fine
    else:
        assert fine
        assert (type(taken), taken) == (int, number)


# ---------------------------------------------------------------- names
@pytest.mark.parametrize(
    "name", ["file", "File", "yes\u200b", "\u202eyes", "a\u200db", "yes\U000e0041"]
)
def test_names_that_look_like_others_are_refused(app, name):
    reply = post(app, "ask", {"who": name})
    assert is_refusal(reply)
    assert reply.json()["detail"].startswith("who must ")


def test_a_name_is_one_however_it_is_composed(app):
    for number, name in enumerate(("ol\u00e9", "ole\u0301")):
        given = {"key": f"{number:032x}", "who": "ann", "made": 9, "label": name}
        assert post(app, "classes", given).status == 200
    found = [one["name"] for one in get(app, "/api/campaign").json()["catalogue"]]
    assert [name for name in found if name.startswith("ol")] == ["ol\u00e9"]


@pytest.mark.parametrize(
    "name", ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f469\u200d\U0001f52c"]
)
def test_joiners_that_a_script_needs_stay(app, name):
    given = {"key": f"{ord(name[0]):032x}", "who": "ann", "made": 9, "label": name}
    assert post(app, "classes", given).status == 200
    assert name in [one["name"] for one in get(app, "/api/campaign").json()["catalogue"]]
