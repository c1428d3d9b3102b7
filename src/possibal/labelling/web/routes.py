"""HTTP routes of the page: parse, call the service, serialize."""

import logging
import reprlib
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from threading import BoundedSemaphore
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.security import APIKeyQuery, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

import possibal
from possibal.data import images
from possibal.errors import ForbiddenError, RefusedError, UnavailableError, UnsavedError
from possibal.labelling import label_files
from possibal.labelling.access import AccessControl, check_owner
from possibal.labelling.exchange.label_studio_backend import LabelStudioBackend
from possibal.labelling.overview import HistoryFilter, Overview
from possibal.labelling.remarks import text_detail
from possibal.labelling.row_file import rows_file
from possibal.labelling.row_table import RowQuery, RowSort, RowState
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.invitations import Role, Visitor
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
from possibal.labelling.web.label_studio_routes import label_studio_router
from possibal.labelling.web.security import JOIN_PATH, PLATFORM_PATH, SESSION_PATH, bearer
from possibal.labelling.web.serializers import Serializer
from possibal.labelling.web.thumbnails import ThumbnailCache

STATIC = Path(str(files("possibal.labelling.web") / "static"))
PRIVATE = "private, max-age=3600"
"""For pictures: they do not change."""
EXPORTS = 2
"""Files with all answers that are made at once."""
RETRY = 2
"""Seconds after which to try again what the database did not do."""
LOG = logging.getLogger(__name__)
GONE = "The picture of this row is not there any more."
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.ProblemOut, "description": words}
    for status, words in {
        400: "Not to be read",
        401: "No session",
        403: "Foreign host or page, or not for this role",
        409: "Not as the campaign is now",
        413: "Too large",
        422: "Something must be otherwise",
        503: "The database is away",
    }.items()
}
PROBLEMS[403]["model"] = schemas.ForbiddenOut
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


def visitor(request: Request) -> Visitor:
    """Whom a request comes from, as the security middleware found."""
    return request.state.visitor


Present = Annotated[Visitor, Depends(visitor)]
"""Whoever is asking, and is in."""
KEYS = [
    Depends(HTTPBearer(auto_error=False, description="A session.")),
    Depends(APIKeyQuery(name="key", auto_error=False, description="For pictures alone.")),
]
"""What requests carry, for the description of the interface; the security middleware checks it."""


def create_app(
    service: LabellingService, access: AccessControl, origins: Sequence[str] = ()
) -> FastAPI:
    """The FastAPI application of a service, without the security middleware.

    Args:
        service: of the campaign.
        access: who may do what.
        origins: addresses at which other machines can open the page.
    """
    app = bare_app()
    serializer = Serializer(service, Overview(service.read_model, service.scheduler))
    _front(app, serializer, access)
    inside = APIRouter(dependencies=[*KEYS, *_shared(service)])
    _pictures(inside, service)
    _inviting(inside, access, origins)
    _asking(inside, service, serializer, access)
    _answering(inside, service, serializer, access)
    _changing(inside, service, serializer, access)
    _remarking(inside, service, serializer, access)
    _looking(inside, serializer)
    _comparing(inside, serializer)
    _confirming(inside, serializer, access)
    _naming(inside, serializer, access)
    _taking_away(inside, service)
    inside.include_router(label_studio_router(LabelStudioBackend(service)))
    app.include_router(inside)
    return app


def bare_app() -> FastAPI:
    """An application with the page's own files, in which mistakes are told in one sentence."""
    app = FastAPI(
        title="possibal",
        version=possibal.__version__,
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
    )
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(ForbiddenError, _forbidden)
    app.add_exception_handler(UnsavedError, _away)
    app.add_exception_handler(UnavailableError, _away)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


def _shared(service: LabellingService) -> list[Any]:
    """What is done before anything is answered, refused or shown, where there may be others."""

    async def catch_up(request: Request) -> None:
        """See what other servers of the campaign did; to ask for a question is to do so."""
        if request.url.path.startswith(("/api/", PLATFORM_PATH)) and request.url.path != "/api/ask":
            await run_in_threadpool(service.catch_up)

    return [Depends(catch_up)] if service.store.is_shared else []


# ---------------------------------------------------------------- routes
def _front(app: FastAPI, serializer: Serializer, access: AccessControl) -> None:
    """What is there for everybody: the page itself, and what lets a browser in."""

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get(SESSION_PATH)
    def session(request: Request) -> schemas.SessionOut:
        """Which campaign this is, and who is asking."""
        return serializer.session(request.state.visitor)

    @app.post(JOIN_PATH)
    def join(given: schemas.JoinIn, request: Request) -> schemas.SessionOut:
        """Exchange an invitation for a session; one that the browser had before ends."""
        former = bearer(request.headers)
        return serializer.session(access.join(given.code, given.session, given.pictures, former))


def _pictures(app: APIRouter, service: LabellingService) -> None:
    """The pictures of rows."""

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


def _inviting(app: APIRouter, access: AccessControl, origins: Sequence[str]) -> None:
    """What says who may come in, and what lets out."""

    @app.post("/api/leave")
    def leave(request: Request) -> schemas.LeftOut:
        """End the session."""
        access.leave(bearer(request.headers))
        return schemas.LeftOut()

    def listed(present: Visitor) -> list[schemas.InvitationOut]:
        return [
            schemas.InvitationOut(**vars(one), is_mine=one.number == present.invitation)
            for one in access.invitations()
        ]

    @app.get("/api/invitations")
    def invitations(present: Present) -> schemas.InvitationsOut:
        """Everybody who is invited, or in."""
        check_owner(present, "see who is invited")
        return schemas.InvitationsOut(invitations=listed(present))

    @app.post("/api/invite")
    def invite(given: schemas.InvitedIn, present: Present) -> schemas.InvitedOut:
        """Invite somebody; the code is shown this once."""
        check_owner(present, "invite others")
        code = access.invite(given.who, Role(given.role))
        return schemas.InvitedOut(code=code, origins=list(origins), invitations=listed(present))

    @app.post("/api/withdraw")
    def withdraw(given: schemas.WithdrawnIn, present: Present) -> schemas.InvitationsOut:
        """Withdraw an invitation; whoever joined by it is out."""
        check_owner(present, "withdraw invitations")
        access.withdraw(given.number)
        return schemas.InvitationsOut(invitations=listed(present))


def _asking(
    app: APIRouter, service: LabellingService, serializer: Serializer, access: AccessControl
) -> None:
    """What gives questions."""

    @app.post("/api/ask")
    def ask(given: schemas.AskIn, present: Present) -> schemas.AskedOut:
        """The next question, or the row that a person chose."""
        access.check_name(present, given.who)
        if given.row is not None:
            return schemas.AskedOut(
                question=serializer.question(service.choose(given.who, given.row)), reason=None
            )
        return serializer.asked(given.who)

    @app.post("/api/spare")
    def spare(given: schemas.ReserveIn, present: Present) -> schemas.ReserveOut:
        """Questions for while the server is away."""
        access.check_name(present, given.who)
        found = service.reserve(given.who, given.count)
        return schemas.ReserveOut(questions=[serializer.question(one) for one in found])

    @app.post("/api/renew")
    def renew(given: schemas.RenewIn, present: Present) -> schemas.RenewedOut:
        """Let a person keep their rows."""
        access.check_name(present, given.who)
        return schemas.RenewedOut(seconds=service.renew(given.who))


def _answering(
    app: APIRouter, service: LabellingService, serializer: Serializer, access: AccessControl
) -> None:
    """What changes the campaign."""

    @app.post("/api/answer")
    def answer(given: schemas.AnswerIn, present: Present) -> schemas.AnsweredOut:
        """Keep an answer, and give the next question."""
        access.check_name(present, given.who)
        kind = Kind(given.kind)
        if kind is Kind.SETTLE:
            check_owner(present, "settle what people differ on")
        label = given.label if kind in {Kind.LABEL, Kind.EDIT, Kind.SETTLE} else None
        others = places_detail(given.others) if given.others else None
        event = Event(given.key, kind, given.who, given.made, given.row, label, detail=others)
        take = service.answer_unlabelled if given.unlabelled else service.answer
        stored = take(service.stamped(event, given.sent, given.device))
        nothing = schemas.AskedOut(question=None, reason=None)
        following = serializer.asked(given.who) if given.next else nothing
        return schemas.AnsweredOut(
            repeated=stored.repeated,
            counts=stored.counts,
            left_out=[row for row in event.rows if row not in stored.event.rows],
            question=following.question,
            reason=following.reason,
            complete=following.complete,
        )

    @app.post("/api/undo")
    def undo(given: schemas.UndoIn, present: Present) -> schemas.UndoneOut:
        """Take an action back, and ask about its row anew."""
        access.check_name(present, given.who)
        event = Event(given.key, Kind.UNDO, given.who, given.made, target=given.target)
        undone = service.undo(service.stamped(event, given.sent, given.device))
        if undone is None and given.target is not None:  # it is still on its way
            return schemas.UndoneOut(target=given.target, said=None, question=None)
        return serializer.undone(undone, given.who)


def _changing(
    app: APIRouter, service: LabellingService, serializer: Serializer, access: AccessControl
) -> None:
    """What changes the classes and the check rows."""

    def change(
        kind: Kind,
        given: schemas.NewClassIn,
        present: Visitor,
        detail: dict[str, str] | None = None,
    ) -> schemas.ClassesOut:
        check_owner(present, "change classes")
        access.check_name(present, given.who)
        event = Event(given.key, kind, given.who, given.made, label=given.label, detail=detail)
        service.answer(service.stamped(event, given.sent, given.device))
        return serializer.classes()

    @app.post("/api/classes")
    def classes(given: schemas.NewClassIn, present: Present) -> schemas.ClassesOut:
        """Add a class."""
        return change(Kind.CLASS, given, present)

    @app.post("/api/classes/rename")
    def rename(given: schemas.RenamedClassIn, present: Present) -> schemas.ClassesOut:
        """Give a class another name or, if that is said, merge it with the class of that name."""
        detail = {TO: given.to} | ({MERGE: "yes"} if given.merge else {})
        return change(Kind.RENAME, given, present, detail)

    @app.post("/api/classes/remove")
    def remove(given: schemas.RemovedClassIn, present: Present) -> schemas.ClassesOut:
        """Take out a class that no row has."""
        return change(Kind.REMOVE, given, present)

    @app.post("/api/classes/describe")
    def describe(given: schemas.DescribedClassIn, present: Present) -> schemas.ClassesOut:
        """Say what people are told of a class."""
        words = {DESCRIPTION: given.description, COLOUR: given.colour}
        said = {name: text for name, text in words.items() if text is not None}
        return change(Kind.DESCRIBE, given, present, said)

    @app.post("/api/check")
    def check(given: schemas.CheckRowsIn, present: Present) -> schemas.DrawnOut:
        """Draw more check rows at random."""
        check_owner(present, "draw check rows")
        access.check_name(present, given.who)
        event = Event(given.key, Kind.CHECK, given.who, given.made)
        event = service.stamped(event, given.sent, given.device)
        stored = service.draw_check_rows(event, given.count)
        return serializer.drawn(len(named_places(stored.event)))


def _remarking(
    app: APIRouter, service: LabellingService, serializer: Serializer, access: AccessControl
) -> None:
    """What keeps texts that people write."""

    @app.post("/api/comment")
    def comment(given: schemas.RemarkIn, present: Present) -> schemas.CommentedOut:
        """Keep what a person remarks on a row."""
        access.check_name(present, given.who)
        detail = text_detail(given.text)
        event = Event(given.key, Kind.COMMENT, given.who, given.made, given.row, detail=detail)
        stored = service.answer(service.stamped(event, given.sent, given.device))
        return serializer.commented(stored, given.who)

    @app.post("/api/guidelines")
    def guidelines(given: schemas.GuidelinesIn, present: Present) -> schemas.GuidelinesOut:
        """Say how to label."""
        check_owner(present, "write the guidelines")
        access.check_name(present, given.who)
        detail = text_detail(given.text)
        event = Event(given.key, Kind.GUIDELINES, given.who, given.made, detail=detail)
        service.answer(service.stamped(event, given.sent, given.device))
        return serializer.guidelines()


def _looking(app: APIRouter, serializer: Serializer) -> None:
    """What only shows."""

    @app.get("/api/campaign")
    def campaign() -> schemas.CampaignOut:
        """What the campaign is."""
        return serializer.campaign()

    @app.get("/api/progress")
    def progress() -> schemas.ProgressOut:
        """How far it is."""
        return serializer.progress()

    @app.get("/api/results")
    def results() -> schemas.ResultsOut:
        """What was reached: accuracy, and which classes are taken for which."""
        return serializer.results()

    @app.get("/api/map")
    def spots(present: Present) -> schemas.MapOut:
        """Its rows in the plane."""
        return serializer.map(present)

    @app.get("/api/history")
    def history(  # noqa: PLR0913 - one argument per filter
        *,
        present: Present,
        who: Annotated[str | None, Query(max_length=60)] = None,
        kind: Kind | None = None,
        label: Annotated[str | None, Query(max_length=200)] = None,
        text: Annotated[str | None, Query(max_length=200)] = None,
        before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> schemas.HistoryOut:
        """What people did."""
        wanted = HistoryFilter(who or None, kind, label or None, text or None, before, limit)
        return serializer.history(wanted, present)


def _comparing(app: APIRouter, serializer: Serializer) -> None:
    """What shows what others said."""

    @app.get("/api/agreement")
    def agreement(present: Present) -> schemas.AgreementOut:
        """How far people agree."""
        return serializer.agreement(present)

    @app.get("/api/conflicts")
    def conflicts(present: Present) -> schemas.ConflictsOut:
        """Rows of which people said different things."""
        return serializer.conflicts(present)


def _confirming(app: APIRouter, serializer: Serializer, access: AccessControl) -> None:
    """What shows many rows at once."""

    @app.get("/api/events/{key}")
    def event(key: schemas.EventKey, present: Present) -> schemas.EventRowsOut:
        """The rows that an answer was about."""
        return serializer.event_rows(key, present)

    @app.get("/api/confirm")
    def confirm(
        *,
        present: Present,
        who: Annotated[str, Query(max_length=60)] = "",
        label: Annotated[str | None, Query(max_length=200)] = None,
        first: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
        count: Annotated[int, Query(ge=1, le=60)] = 48,
    ) -> schemas.ConfirmationOut:
        """Rows without a label by predicted class, to confirm many at once."""
        serializer.check_open(present, "predictions are shown")
        named = access.named(present, who)
        return serializer.confirmation(named, label or None, first, count)


def _naming(app: APIRouter, serializer: Serializer, access: AccessControl) -> None:
    """What shows a row by its place or its id."""

    @app.get("/api/find")
    def find(name: Annotated[str, Query(alias="id", max_length=2000)] = "") -> schemas.FoundOut:
        """The row of an id, or rows whose ids are like it."""
        return serializer.found(name)

    @app.get("/api/rows")
    def rows(  # noqa: PLR0913 - one argument per filter
        *,
        present: Present,
        text: Annotated[str, Query(max_length=200)] = "",
        label: Annotated[str | None, Query(max_length=200)] = None,
        state: RowState | None = None,
        sort: RowSort = RowSort.FILE,
        first: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
        count: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> schemas.RowsOut:
        """All rows, or those that fit: what they are, and what the model makes of them."""
        query = RowQuery(text.strip(), label or None, state, sort, first, count)
        return serializer.rows(query, present)

    @app.get("/api/rows/{row}")
    def row(
        row: schemas.Row, present: Present, who: Annotated[str, Query(max_length=60)] = ""
    ) -> schemas.RowOut:
        """A row, to look at."""
        return schemas.RowOut(question=serializer.again(row, access.named(present, who)))

    @app.get("/api/rows/{row}/near")
    def near(
        row: schemas.Row, present: Present, who: Annotated[str, Query(max_length=60)] = ""
    ) -> schemas.NearCopiesOut:
        """Rows that are nearly the same as one, and that somebody may be asked about."""
        return serializer.near_copies(row, access.named(present, who))

    @app.get("/api/rows/{row}/close")
    def close(
        row: schemas.Row, present: Present, who: Annotated[str, Query(max_length=60)] = ""
    ) -> schemas.CloseRowsOut:
        """Rows that are close to one, which a person may label together."""
        return serializer.close_rows(row, access.named(present, who))


def _taking_away(app: APIRouter, service: LabellingService) -> None:
    """What is saved as a file."""
    free = BoundedSemaphore(EXPORTS)  # questions and answers share the processor with them

    def saved(name: str, made: Callable[[], bytes]) -> Response:
        """A file, unless too many are being made."""
        if not free.acquire(blocking=False):
            raise UnavailableError(
                f"{name} must be fetched by at most {EXPORTS} at once; got one more. "
                "Try again in a few seconds."
            )
        try:
            content = made()
        finally:
            free.release()
        kept = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="text/csv; charset=utf-8", headers=kept)

    @app.get("/api/labels.csv", responses=SHEET, response_class=Response)
    def sheet(present: Present) -> Response:
        """All answers."""
        check_owner(present, "download the labels")

        def made() -> bytes:
            with service.read_model.lock:
                verdicts = dict(service.read_model.state.verdicts)
            return label_files.export_file(service.store, ".csv", verdicts=verdicts)[0]

        return saved("labels.csv", made)

    @app.get("/api/rows.csv", responses=SHEET, response_class=Response)
    def rows_sheet(present: Present) -> Response:
        """All rows, with what the last ranking predicts of those that it looked at."""
        check_owner(present, "download all rows")
        predictions = service.scheduler.whole_predictions
        return saved("rows.csv", lambda: rows_file(service.read_model, predictions, ".csv")[0])


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


def _forbidden(request: Request, error: Exception) -> Response:
    """What is not for this role, in one sentence; the page tells it from a foreign request."""
    visitor: Visitor = request.state.visitor
    said = schemas.ForbiddenOut(detail=str(error), role=str(visitor.role))
    return JSONResponse(said.model_dump(), 403)
