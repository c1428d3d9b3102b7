"""The routes of the page: parse, call the desk, answer."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

import possibal
from possibal import images
from possibal.errors import RefusedError, UnsavedError
from possibal.journal import Event, Kind
from possibal.overview import Overview, Wanted
from possibal.service import Desk
from possibal.web import shapes
from possibal.web.views import Views

STATIC = Path(str(files("possibal.web") / "static"))
PRIVATE = "private, max-age=3600"
"""For pictures: they do not change."""
PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"model": shapes.Problem, "description": "No token"},
    403: {"model": shapes.Problem, "description": "Foreign host or page"},
    413: {"model": shapes.Problem, "description": "Too large"},
    422: {"model": shapes.Problem, "description": "Something must be otherwise"},
    503: {"model": shapes.Problem, "description": "The database is away"},
}
MISSING: dict[int | str, dict[str, Any]] = {
    404: {"model": shapes.Problem, "description": "Not there"}
}


def application(desk: Desk) -> FastAPI:
    """The page of a desk, without a gate."""
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
    app.add_exception_handler(UnsavedError, _unsaved)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    views = Views(desk, Overview(desk.standing))
    _pages(app, desk)
    _asking(app, desk, views)
    _answering(app, desk, views)
    _looking(app, views)
    return app


# ---------------------------------------------------------------- routes
def _pages(app: FastAPI, desk: Desk) -> None:
    """The page itself and its pictures."""

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/media/{row}", responses=MISSING, response_class=FileResponse)
    def media(row: shapes.Row) -> Response:
        """The picture of a row."""
        item = desk.store.items([row]).get(row)
        if item is None or item.media is None or desk.setup.folder is None:
            return JSONResponse({"detail": "This row has no picture."}, 404)
        try:
            path = images.inside(Path(desk.setup.folder), item.media)
        except ValueError:
            return JSONResponse({"detail": "The picture of this row is not there any more."}, 404)
        kind = images.TYPES[path.suffix.lower()]
        return FileResponse(path, media_type=kind, headers={"cache-control": PRIVATE})


def _asking(app: FastAPI, desk: Desk, views: Views) -> None:
    """What gives questions."""

    @app.post("/api/ask")
    def ask(given: shapes.Ask) -> shapes.Asked:
        """The next question, or the row that a person chose."""
        if given.row is not None:
            return shapes.Asked(
                question=views.question(desk.choose(given.who, given.row)), reason=None
            )
        return views.asked(given.who)

    @app.post("/api/spare")
    def spare(given: shapes.Spare) -> shapes.Spares:
        """Questions for while the server is away."""
        found = desk.reserve(given.who, given.count)
        return shapes.Spares(questions=[views.question(one) for one in found])

    @app.post("/api/renew")
    def renew(given: shapes.Renew) -> shapes.Renewed:
        """Let a person keep their rows."""
        return shapes.Renewed(seconds=desk.renew(given.who))


def _answering(app: FastAPI, desk: Desk, views: Views) -> None:
    """What changes the campaign."""

    @app.post("/api/answer")
    def answer(given: shapes.Answer) -> shapes.Answered:
        """Keep an answer, and give the next question."""
        kind = Kind(given.kind)
        label = given.label if kind in {Kind.LABEL, Kind.EDIT, Kind.SETTLE} else None
        event = Event(given.key, kind, given.who, given.made, given.row, label)
        stored = desk.answer(event)
        nothing = shapes.Asked(question=None, reason=None)
        following = views.asked(given.who) if given.next else nothing
        return shapes.Answered(
            repeated=stored.repeated, question=following.question, reason=following.reason
        )

    @app.post("/api/undo")
    def undo(given: shapes.Undo) -> shapes.Undone:
        """Take an action back, and ask about its row anew."""
        event = Event(given.key, Kind.UNDO, given.who, given.made, target=given.target)
        undone = desk.undo(event)
        if undone is None or undone.row is None:
            return shapes.Undone(target=given.target, question=None)
        return shapes.Undone(target=undone.key, question=views.again(undone.row, given.who))

    @app.post("/api/classes")
    def classes(given: shapes.NewClass) -> shapes.Classes:
        """Add a class."""
        desk.answer(Event(given.key, Kind.CLASS, given.who, given.made, label=given.label))
        return shapes.Classes(classes=list(desk.standing.classes))


def _looking(app: FastAPI, views: Views) -> None:
    """What only shows."""

    @app.get("/api/campaign")
    def campaign() -> shapes.CampaignOut:
        """What the campaign is."""
        return views.campaign()

    @app.get("/api/progress")
    def progress() -> shapes.ProgressOut:
        """How far it is."""
        return views.progress()

    @app.get("/api/map")
    def spots() -> shapes.MapOut:
        """Its rows in the plane."""
        return views.map()

    @app.get("/api/history")
    def history(  # noqa: PLR0913 - one argument per filter
        *,
        who: Annotated[str | None, Query(max_length=60)] = None,
        kind: Kind | None = None,
        label: Annotated[str | None, Query(max_length=200)] = None,
        text: Annotated[str | None, Query(max_length=200)] = None,
        before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> shapes.HistoryOut:
        """What people did."""
        wanted = Wanted(who or None, kind, label or None, text or None, before, limit)
        return views.history(wanted)

    @app.get("/api/rows/{row}")
    def row(row: shapes.Row, who: Annotated[str, Query(max_length=60)] = "") -> shapes.RowOut:
        """A row, to look at."""
        return shapes.RowOut(question=views.again(row, who))

    @app.get("/api/agreement")
    def agreement() -> shapes.AgreementOut:
        """How far people agree."""
        return views.agreement()

    @app.get("/api/conflicts")
    def conflicts() -> shapes.ConflictsOut:
        """Rows of which people said different things."""
        return views.conflicts()


# ---------------------------------------------------------------- mistakes
def _invalid(_request: Request, error: Exception) -> Response:
    """What a request must be, in one sentence."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(part) for part in first.get("loc", ())[1:]) or "request"
    said = str(first.get("msg", "")).removeprefix("Input ").removeprefix("String ")
    sentence = f"{where} must be valid; got something else ({said}). Correct it."
    return JSONResponse({"detail": sentence}, 422)


def _unsaved(_request: Request, error: Exception) -> Response:
    """What could not be written: the page keeps it and sends it again."""
    return JSONResponse({"detail": str(error)}, 503)


def _refused(_request: Request, error: Exception) -> Response:
    """What the desk refuses, in its own sentence."""
    return JSONResponse({"detail": str(error)}, 422)
