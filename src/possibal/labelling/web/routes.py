"""HTTP routes of the page: parse, call the service, serialize."""

import logging
import reprlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, cast

from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.security import APIKeyCookie
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

import possibal
from possibal.data import images
from possibal.errors import RefusedError, UnavailableError, UnsavedError
from possibal.labelling import label_files
from possibal.labelling.overview import HistoryFilter, Overview
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.journal import (
    COLOUR,
    DESCRIPTION,
    MERGE,
    TO,
    Event,
    Kind,
    named_places,
    places_detail,
)
from possibal.labelling.web import schemas
from possibal.labelling.web.serializers import Serializer
from possibal.labelling.web.thumbnails import ThumbnailCache

STATIC = Path(str(files("possibal.labelling.web") / "static"))
PRIVATE = "private, max-age=3600"
"""For pictures: they do not change."""
RETRY = 2
"""Seconds after which to try again what the database did not do."""
LOG = logging.getLogger(__name__)
GONE = "The picture of this row is not there any more."
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.ProblemOut, "description": words}
    for status, words in {
        400: "Not to be read",
        401: "No token",
        403: "Foreign host or page",
        409: "Not as the campaign is now",
        413: "Too large",
        422: "Something must be otherwise",
        503: "The database is away",
    }.items()
}
MISSING: dict[int | str, dict[str, Any]] = {
    404: {"model": schemas.ProblemOut, "description": "Not there"}
}
PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {} for kind in images.TYPES.values()}, "description": "The picture"}
}
SMALL: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {kind: {} for kind in ("image/jpeg", "image/png")},
        "description": "The picture, small",
    },
    304: {"description": "As it was"},
}
SHEET: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "The file"}
}
RULES = {
    "missing": "must be given",
    "extra_forbidden": "must be left out",
    "json_invalid": "must be JSON",
    schemas.WORDS: "must be without control characters, and without a space at its ends",
}
"""What the words of pydantic mean to people."""


def create_app(service: LabellingService, cookie: str) -> FastAPI:
    """The FastAPI application of a service, without the security middleware."""
    app = FastAPI(
        title="possibal",
        version=possibal.__version__,
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        dependencies=[Depends(APIKeyCookie(name=cookie, auto_error=False)), *_shared(service)],
    )
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(UnsavedError, _away)
    app.add_exception_handler(UnavailableError, _away)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    serializer = Serializer(service, Overview(service.read_model, service.scheduler))
    _pages(app, service)
    _asking(app, service, serializer)
    _answering(app, service, serializer)
    _changing(app, service, serializer)
    _looking(app, serializer)
    _confirming(app, serializer)
    _naming(app, serializer)
    _taking_away(app, service)
    return app


def _shared(service: LabellingService) -> list[Any]:
    """What is done before anything is answered, refused or shown, where there may be others."""

    async def catch_up(request: Request) -> None:
        """See what other servers of the campaign did; to ask for a question is to do so."""
        if request.url.path.startswith("/api/") and request.url.path != "/api/ask":
            await run_in_threadpool(service.catch_up)

    return [Depends(catch_up)] if service.store.is_shared else []


# ---------------------------------------------------------------- routes
def _pages(app: FastAPI, service: LabellingService) -> None:
    """The page itself and its pictures."""

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/media/{row}", responses=MISSING | PICTURE, response_class=FileResponse)
    def media(row: schemas.Row) -> Response:
        """The picture of a row."""
        path = _picture_path(service, row)
        if isinstance(path, Response):
            return path
        kind = images.TYPES[path.suffix.lower()]
        return FileResponse(path, media_type=kind, headers={"cache-control": PRIVATE})

    cache = ThumbnailCache()

    @app.get("/media/{row}/thumbnail", responses=MISSING | SMALL, response_class=Response)
    def thumbnail(
        row: schemas.Row, if_none_match: Annotated[str, Header(max_length=2000)] = ""
    ) -> Response:
        """A small copy of the picture of a row."""
        path = _picture_path(service, row)
        if isinstance(path, Response):
            return path
        try:
            found = cache.thumbnail(path)
        except (ValueError, OSError) as error:
            said = str(error) if isinstance(error, ValueError) else GONE
            return JSONResponse({"detail": said}, 409)
        headers = {"cache-control": PRIVATE, "etag": found.tag}
        if found.tag in if_none_match:
            return Response(status_code=304, headers=headers)
        return Response(found.content, media_type=found.media_type, headers=headers)


def _picture_path(service: LabellingService, row: int) -> Path | Response:
    """Where the picture of a row is, or that there is none."""
    item = service.store.items([row]).get(row)
    if item is None or item.media is None or service.setup.folder is None:
        return JSONResponse({"detail": "This row has no picture."}, 404)
    try:
        return images.resolve_image(Path(service.setup.folder), item.media)
    except ValueError:
        return JSONResponse({"detail": GONE}, 404)


def _asking(app: FastAPI, service: LabellingService, serializer: Serializer) -> None:
    """What gives questions."""

    @app.post("/api/ask")
    def ask(given: schemas.AskIn) -> schemas.AskedOut:
        """The next question, or the row that a person chose."""
        if given.row is not None:
            return schemas.AskedOut(
                question=serializer.question(service.choose(given.who, given.row)), reason=None
            )
        return serializer.asked(given.who)

    @app.post("/api/spare")
    def spare(given: schemas.ReserveIn) -> schemas.ReserveOut:
        """Questions for while the server is away."""
        found = service.reserve(given.who, given.count)
        return schemas.ReserveOut(questions=[serializer.question(one) for one in found])

    @app.post("/api/renew")
    def renew(given: schemas.RenewIn) -> schemas.RenewedOut:
        """Let a person keep their rows."""
        return schemas.RenewedOut(seconds=service.renew(given.who))


def _answering(app: FastAPI, service: LabellingService, serializer: Serializer) -> None:
    """What changes the campaign."""

    @app.post("/api/answer")
    def answer(given: schemas.AnswerIn) -> schemas.AnsweredOut:
        """Keep an answer, and give the next question."""
        kind = Kind(given.kind)
        label = given.label if kind in {Kind.LABEL, Kind.EDIT, Kind.SETTLE} else None
        others = places_detail(given.others) if given.others else None
        event = Event(given.key, kind, given.who, given.made, given.row, label, detail=others)
        stored = service.answer(service.stamped(event, given.sent, given.device))
        nothing = schemas.AskedOut(question=None, reason=None)
        following = serializer.asked(given.who) if given.next else nothing
        return schemas.AnsweredOut(
            repeated=stored.repeated,
            counts=stored.counts,
            question=following.question,
            reason=following.reason,
        )

    @app.post("/api/undo")
    def undo(given: schemas.UndoIn) -> schemas.UndoneOut:
        """Take an action back, and ask about its row anew."""
        event = Event(given.key, Kind.UNDO, given.who, given.made, target=given.target)
        undone = service.undo(service.stamped(event, given.sent, given.device))
        if undone is None and given.target is not None:  # it is still on its way
            return schemas.UndoneOut(target=given.target, said=None, question=None)
        return serializer.undone(undone, given.who)


def _changing(app: FastAPI, service: LabellingService, serializer: Serializer) -> None:
    """What changes the classes and the check rows."""

    def change(
        kind: Kind, given: schemas.NewClassIn, detail: dict[str, str] | None = None
    ) -> schemas.ClassesOut:
        event = Event(given.key, kind, given.who, given.made, label=given.label, detail=detail)
        service.answer(service.stamped(event, given.sent, given.device))
        return serializer.classes()

    @app.post("/api/classes")
    def classes(given: schemas.NewClassIn) -> schemas.ClassesOut:
        """Add a class."""
        return change(Kind.CLASS, given)

    @app.post("/api/classes/rename")
    def rename(given: schemas.RenamedClassIn) -> schemas.ClassesOut:
        """Give a class another name or, if that is said, merge it with the class of that name."""
        return change(Kind.RENAME, given, {TO: given.to} | ({MERGE: "yes"} if given.merge else {}))

    @app.post("/api/classes/remove")
    def remove(given: schemas.RemovedClassIn) -> schemas.ClassesOut:
        """Take out a class that no row has."""
        return change(Kind.REMOVE, given)

    @app.post("/api/classes/describe")
    def describe(given: schemas.DescribedClassIn) -> schemas.ClassesOut:
        """Say what people are told of a class."""
        words = {DESCRIPTION: given.description, COLOUR: given.colour}
        return change(Kind.DESCRIBE, given, {k: v for k, v in words.items() if v is not None})

    @app.post("/api/check")
    def check(given: schemas.CheckRowsIn) -> schemas.DrawnOut:
        """Draw more check rows at random."""
        event = Event(given.key, Kind.CHECK, given.who, given.made)
        event = service.stamped(event, given.sent, given.device)
        stored = service.draw_check_rows(event, given.count)
        return serializer.drawn(len(named_places(stored.event)))


def _looking(app: FastAPI, serializer: Serializer) -> None:
    """What only shows."""

    @app.get("/api/campaign")
    def campaign() -> schemas.CampaignOut:
        """What the campaign is."""
        return serializer.campaign()

    @app.get("/api/progress")
    def progress() -> schemas.ProgressOut:
        """How far it is."""
        return serializer.progress()

    @app.get("/api/map")
    def spots() -> schemas.MapOut:
        """Its rows in the plane."""
        return serializer.map()

    @app.get("/api/history")
    def history(  # noqa: PLR0913 - one argument per filter
        *,
        who: Annotated[str | None, Query(max_length=60)] = None,
        kind: Kind | None = None,
        label: Annotated[str | None, Query(max_length=200)] = None,
        text: Annotated[str | None, Query(max_length=200)] = None,
        before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> schemas.HistoryOut:
        """What people did."""
        wanted = HistoryFilter(who or None, kind, label or None, text or None, before, limit)
        return serializer.history(wanted)

    @app.get("/api/agreement")
    def agreement() -> schemas.AgreementOut:
        """How far people agree."""
        return serializer.agreement()

    @app.get("/api/conflicts")
    def conflicts() -> schemas.ConflictsOut:
        """Rows of which people said different things."""
        return serializer.conflicts()


def _confirming(app: FastAPI, serializer: Serializer) -> None:
    """What shows many rows at once."""

    @app.get("/api/events/{key}")
    def event(key: schemas.EventKey) -> schemas.EventRowsOut:
        """The rows that an answer was about."""
        return serializer.event_rows(key)

    @app.get("/api/confirm")
    def confirm(
        *,
        who: Annotated[str, Query(max_length=60)] = "",
        label: Annotated[str | None, Query(max_length=200)] = None,
        first: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
        count: Annotated[int, Query(ge=1, le=60)] = 48,
    ) -> schemas.ConfirmationOut:
        """Rows without a label by predicted class, to confirm many at once."""
        return serializer.confirmation(who, label or None, first, count)


def _naming(app: FastAPI, serializer: Serializer) -> None:
    """What shows a row by its place or its id."""

    @app.get("/api/find")
    def find(name: Annotated[str, Query(alias="id", max_length=2000)] = "") -> schemas.FoundOut:
        """The row of an id, or rows whose ids are like it."""
        return serializer.found(name)

    @app.get("/api/rows/{row}")
    def row(row: schemas.Row, who: Annotated[str, Query(max_length=60)] = "") -> schemas.RowOut:
        """A row, to look at."""
        return schemas.RowOut(question=serializer.again(row, who))

    @app.get("/api/rows/{row}/near")
    def near(
        row: schemas.Row, who: Annotated[str, Query(max_length=60)] = ""
    ) -> schemas.NearCopiesOut:
        """Rows that are nearly the same as one, and that somebody may be asked about."""
        return serializer.near_copies(row, who)


def _taking_away(app: FastAPI, service: LabellingService) -> None:
    """What is saved as a file."""

    @app.get("/api/labels.csv", responses=SHEET, response_class=Response)
    def sheet() -> Response:
        """All answers."""
        content, _, _ = label_files.export_file(service.store, ".csv")
        kept = {"content-disposition": 'attachment; filename="labels.csv"'}
        return Response(content, media_type="text/csv; charset=utf-8", headers=kept)


# ---------------------------------------------------------------- mistakes
def _invalid(_request: Request, error: Exception) -> Response:
    """What a request must be, in one sentence."""
    first = cast("RequestValidationError", error).errors()[0]
    place = "" if first.get("type") == "json_invalid" else ".".join(map(str, first["loc"][1:]))
    where = place[:60] if place.isprintable() else ascii(place[:60])
    got = reprlib.repr(first.get("input"))
    sentence = f"{where or 'request'} {_rule(first)}; got {got}. Correct it."
    return JSONResponse({"detail": sentence}, 422)


def _rule(first: Mapping[str, Any]) -> str:
    """What something must be."""
    pattern = first.get("ctx", {}).get("pattern", "")
    said = str(first["msg"]).removeprefix("Value error, ")
    said = said.removeprefix("Input ").removeprefix("String ")
    usual = RULES.get(pattern, f"must {said.removeprefix('should ')}")
    return RULES.get(first["type"], usual)


def _away(_request: Request, error: Exception) -> Response:
    """What the database did not do: the page keeps what it sent, and sends it again."""
    LOG.warning("%s", error)
    return JSONResponse({"detail": str(error)}, 503, {"retry-after": str(RETRY)})


def _refused(_request: Request, error: Exception) -> Response:
    """What the service refuses as things are, in its own sentence."""
    return JSONResponse({"detail": str(error)}, 409)
