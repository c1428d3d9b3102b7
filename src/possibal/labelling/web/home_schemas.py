"""Pydantic schemas of the home page's HTTP API: strict requests in, responses out."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from possibal.data.schema import MOST_CLASSES, ColumnKind
from possibal.labelling.web.schemas import WHOLE, Label, Secret, Strict

HomeKey: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{16,64}$")]
"""Of an upload, a draft or a task."""
FileName: TypeAlias = Annotated[str, Field(min_length=1, max_length=400)]
"""Of a file in the folder, or one that is to be there."""
KindName: TypeAlias = Literal[
    "number", "category", "text", "date", "picture", "id", "label", "left out"
]
"""A value of `ColumnKind`."""
KINDS = [str(kind) for kind in ColumnKind]


class NewUploadIn(Strict):
    """A browser begins to send a file or a folder."""

    name: FileName
    folder: bool = False


class KeyIn(Strict):
    """Something that is named by its key."""

    key: HomeKey


class ChangesIn(Strict):
    """What a person says of the columns of a draft, by their names."""

    key: HomeKey
    changes: Annotated[dict[str, KindName], Field(max_length=2000)]


class NewCampaignIn(Strict):
    """A person begins the campaign of a draft."""

    key: HomeKey
    classes: Annotated[list[Label], Field(max_length=MOST_CLASSES, default_factory=list)]
    people: Annotated[int, Field(ge=1, le=100), WHOLE] = 1
    check: Annotated[int, Field(ge=0, le=1_000_000), WHOLE] = 0
    blind: bool | None = None


class CampaignFileIn(Strict):
    """A person opens a campaign."""

    file: FileName


class EntranceIn(Strict):
    """A person goes to a campaign that is open, with the session that the browser may have."""

    file: FileName
    session: Secret | None = None


class CampaignLineOut(BaseModel):
    """A campaign in one line."""

    file: str
    name: str
    kind: str
    rows: int
    labelled: int
    used: int
    trouble: str
    is_open: bool


class HomeOut(BaseModel):
    """What there is in the folder."""

    folder: str
    campaigns: list[CampaignLineOut]
    endings: list[str]
    pictures: list[str]
    piece: int


class BegunOut(BaseModel):
    """The key of an upload."""

    key: str


class ArrivedOut(BaseModel):
    """Bytes of a file that have arrived."""

    arrived: int


class DraftColumnOut(BaseModel):
    """How a column is understood."""

    name: str
    kind: str
    found: str
    note: str
    examples: list[str]


class DraftOut(BaseModel):
    """A source as it is understood."""

    key: str
    file: str
    kind: str
    rows: int
    labelled: int
    classes: list[str]
    columns: list[DraftColumnOut]
    kinds: list[str]
    said: str
    notes: list[str]
    campaign: str


class TaskOut(BaseModel):
    """How far a task is, and what came of it."""

    key: str
    words: str
    share: float
    done: bool
    trouble: str
    draft: DraftOut | None = None
    file: str | None = None
    place: str | None = None
    notes: list[str] = []


class EnteredOut(BaseModel):
    """Where a campaign's page is; with an invitation, if the browser needs one."""

    address: str


class DoneOut(BaseModel):
    """That something was done."""
