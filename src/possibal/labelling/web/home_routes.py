"""HTTP routes of the home page: parse, call home, serialize."""

import re
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi.responses import FileResponse, Response
from starlette.concurrency import run_in_threadpool

from possibal.data import images, readers
from possibal.data.source import ZIP
from possibal.errors import RefusedError
from possibal.labelling.access import TERMINAL_DAYS, AccessControl, check_owner
from possibal.labelling.create import Options
from possibal.labelling.home.home import CampaignSettings, Home, HomeTask, KeptDraft
from possibal.labelling.home.hosting import HostedCampaign
from possibal.labelling.home.uploads import PIECE
from possibal.labelling.storage.invitations import Role, Visitor
from possibal.labelling.web import home_schemas as schemas
from possibal.labelling.web.routes import KEYS, STATIC, Present, bare_app, visitor
from possibal.labelling.web.schemas import JoinIn, LeftOut, SessionOut
from possibal.labelling.web.security import JOIN_PATH, SESSION_PATH, bearer, problem

PLACE = "/campaigns/"
"""Where campaigns are, each below the name of its file."""
PIECE_PATH = "/api/piece"
"""Where pieces of files arrive."""
OPTION = re.compile(r"; --.*")
"""The part of a note that names an option of the command line."""
CLOSED = "This campaign is not open now. If it stays so, whoever runs it opens it from home."


def create_home(home: Home, access: AccessControl, identity: str) -> FastAPI:
    """The FastAPI application of the home page, without the security middleware.

    Args:
        home: of a folder.
        access: who may come in; owners alone have anything to do here.
        identity: what tells this home from others at the same address.
    """
    app = bare_app()
    _front(app, access, identity)
    _closed(app, home)
    inside = APIRouter(dependencies=[*KEYS, Depends(_owner)])
    _leaving(inside, access)
    _arriving(inside, home)
    _drafting(inside, home)
    _opening(inside, home)
    app.include_router(inside)
    return app


def _owner(request: Request) -> None:
    """Refuse whoever is no owner."""
    check_owner(visitor(request), "use the home page")


# ---------------------------------------------------------------- routes
def _front(app: FastAPI, access: AccessControl, identity: str) -> None:
    """What is there for everybody."""

    def session_of(present: Visitor | None) -> SessionOut:
        role, who = (str(present.role), present.who) if present else (None, None)
        return SessionOut(campaign=identity, role=role, who=who)

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "home.html")

    @app.get(SESSION_PATH)
    def session(request: Request) -> SessionOut:
        """Who is asking."""
        return session_of(request.state.visitor)

    @app.post(JOIN_PATH)
    def join(given: JoinIn, request: Request) -> SessionOut:
        """Exchange an invitation for a session; one that the browser had before ends."""
        former = bearer(request.headers)
        return session_of(access.join(given.code, given.session, given.pictures, former))


def _closed(app: FastAPI, home: Home) -> None:
    """What is where the page of a campaign would be that is not open."""

    @app.api_route(PLACE + "{path:path}", methods=["GET", "POST"], include_in_schema=False)
    def closed(request: Request, path: str) -> Response:
        """That it is not open; pages of it keep what people answer, and try again."""
        home.wake(path.partition("/")[0])
        return problem(request.headers, 503, CLOSED)


def _leaving(app: APIRouter, access: AccessControl) -> None:
    """What lets out."""

    @app.post("/api/leave")
    def leave(request: Request) -> LeftOut:
        """End the session."""
        access.leave(bearer(request.headers))
        return LeftOut()


def _arriving(app: APIRouter, home: Home) -> None:
    """What takes files in."""

    @app.post("/api/upload")
    def upload(given: schemas.NewUploadIn) -> schemas.BegunOut:
        """Begin to send a file or a folder of pictures."""
        return schemas.BegunOut(key=home.uploads.begin(given.name, is_folder=given.folder))

    @app.post(PIECE_PATH)
    async def piece(
        request: Request,
        key: schemas.HomeKey,
        path: Annotated[str, Query(min_length=1, max_length=4000)],
        at: Annotated[int, Query(ge=0, le=2**53)] = 0,
    ) -> schemas.ArrivedOut:
        """A piece of a file, as bytes."""
        content = await request.body()
        arrived = await run_in_threadpool(home.uploads.add, key, path, at, content)
        return schemas.ArrivedOut(arrived=arrived)

    @app.post("/api/cancel")
    def cancel(given: schemas.KeyIn) -> schemas.DoneOut:
        """Take away what has arrived."""
        home.uploads.cancel(given.key)
        return schemas.DoneOut()


def _drafting(app: APIRouter, home: Home) -> None:
    """What shows how a source is understood, and begins its campaign."""

    @app.post("/api/read")
    def read(given: schemas.KeyIn) -> schemas.TaskOut:
        """Understand what was sent."""
        return _task(home.read(given.key))

    @app.post("/api/columns")
    def columns(given: schemas.ChangesIn) -> schemas.DraftOut:
        """Understand columns as a person says."""
        try:
            return _draft(home.change(given.key, given.changes))
        except ValueError as error:
            raise RefusedError(str(error)) from error

    @app.post("/api/discard")
    def discard(given: schemas.KeyIn) -> schemas.DoneOut:
        """Take a draft away, with the file that was sent for it."""
        home.discard(given.key)
        return schemas.DoneOut()

    @app.post("/api/start")
    def start(given: schemas.NewCampaignIn) -> schemas.TaskOut:
        """Begin the campaign of a draft."""
        options = Options(people=given.people, check=given.check, blind=given.blind)
        return _task(home.start(given.key, CampaignSettings(tuple(given.classes), options)))

    @app.get("/api/task")
    def task(key: schemas.HomeKey) -> schemas.TaskOut:
        """How far a task is."""
        return _task(home.task(key))


def _opening(app: APIRouter, home: Home) -> None:
    """What lists and opens campaigns."""

    @app.get("/api/home")
    def look() -> schemas.HomeOut:
        """What there is in the folder."""
        listed = [
            schemas.CampaignLineOut(**vars(one), is_open=home.host.find(one.file) is not None)
            for one in home.campaigns()
        ]
        return schemas.HomeOut(
            folder=str(home.folder),
            campaigns=listed,
            endings=[*readers.endings(), ZIP],
            pictures=[*images.TYPES],
            piece=PIECE,
        )

    @app.post("/api/open")
    def open_(given: schemas.CampaignFileIn) -> schemas.TaskOut:
        """Open a campaign."""
        return _task(home.open(given.file))

    @app.post("/api/enter")
    def enter(given: schemas.EntranceIn, present: Present) -> schemas.EnteredOut:
        """Go to a campaign that is open, as an owner of it, as one is of home."""
        check_owner(present, "open campaigns")
        found = home.host.find(given.file)
        if found is None:
            raise RefusedError(f"campaign must be open; got {given.file[:80]!r}. Open it first.")
        place = f"{campaign_place(found.file)}/"
        known = found.access.visitor(given.session) if given.session else None
        if known is not None and known.is_owner:
            return schemas.EnteredOut(address=place)
        code = found.access.invite(None, Role.OWNER, TERMINAL_DAYS)
        return schemas.EnteredOut(address=f"{place}#join={code}")


def campaign_place(file: str) -> str:
    """The path of a campaign's page below that of home, without the slash at its end."""
    return f"{PLACE}{quote(file, safe='')}"


# ---------------------------------------------------------------- serializing
def _task(task: HomeTask) -> schemas.TaskOut:
    """How far a task is."""
    result, shown = (
        task.result,
        schemas.TaskOut(
            key=task.key,
            words=task.words,
            share=task.share,
            done=task.is_done,
            trouble=task.trouble,
        ),
    )
    if isinstance(result, KeptDraft):
        shown.draft = _draft(result)
    if isinstance(result, HostedCampaign):
        shown.file, shown.notes = result.file, list(result.notes)
        shown.place = f"{campaign_place(result.file)}/"
    return shown


def _draft(kept: KeptDraft) -> schemas.DraftOut:
    """A source as it is understood."""
    draft, rows = kept.draft, kept.draft.rows
    columns = [
        schemas.DraftColumnOut(
            name=one.name,
            kind=str(one.kind),
            found=str(draft.found[one.name]),
            note=one.note,
            examples=examples,
        )
        for one, examples in zip(draft.columns, draft.examples(), strict=True)
    ]
    return schemas.DraftOut(
        key=kept.key,
        file=draft.source.name,
        kind=rows.kind,
        rows=len(rows.ids),
        labelled=sum(label is not None for label in rows.labels),
        classes=list(rows.classes),
        columns=columns,
        kinds=schemas.KINDS,
        said=kept.note,
        notes=[OPTION.sub(".", note) for note in rows.notes],
        campaign=kept.campaign,
    )
