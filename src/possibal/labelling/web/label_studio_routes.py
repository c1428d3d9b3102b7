"""HTTP routes of a machine-learning backend of Label Studio: health, setup, predict, webhook.

The security middleware lets the session of a platform in here, and nobody else.
"""

import logging
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from possibal.errors import RefusedError
from possibal.labelling.exchange.label_studio_backend import LabelStudioBackend
from possibal.labelling.web.security import PLATFORM_PATH

LOG = logging.getLogger(__name__)


class PlatformRequest(BaseModel):
    """What Label Studio sends: its versions add fields, which are left alone."""

    model_config = ConfigDict(extra="allow")


class TasksIn(PlatformRequest):
    """Tasks to predict."""

    tasks: list[dict[str, Any]]


class WebhookIn(PlatformRequest):
    """Something happened in a project."""

    action: str


class HealthOut(BaseModel):
    """That the backend is there."""

    status: Literal["UP"] = "UP"
    model_class: str = "possibal"


class SetupOut(BaseModel):
    """What is predicted now."""

    model_version: str


class PredictOut(BaseModel):
    """A prediction for each task, in their order."""

    results: list[dict[str, Any]]


class ReceivedOut(BaseModel):
    """How many answers were kept or taken back."""

    status: Literal["ok"] = "ok"
    kept: int


def label_studio_router(backend: LabelStudioBackend) -> APIRouter:
    """The routes of a campaign."""
    router = APIRouter(prefix=PLATFORM_PATH.rstrip("/"), tags=["Label Studio"])

    @router.get("/health")
    def health() -> HealthOut:
        """Whether the backend is there."""
        return HealthOut()

    @router.post("/setup")
    def setup(given: PlatformRequest) -> SetupOut:  # noqa: ARG001 - it tells of itself, and a key to it
        """The version of the predictions; what Label Studio tells of itself is not kept."""
        return SetupOut(model_version=backend.version)

    @router.post("/predict")
    def predict(given: TasksIn) -> PredictOut:
        """Predict tasks."""
        return PredictOut(results=backend.predict(given.tasks))

    @router.post("/webhook")
    def webhook(given: WebhookIn) -> ReceivedOut:
        """Keep what was annotated; Label Studio does not look at the reply, so that we log it."""
        try:
            return ReceivedOut(kept=backend.receive(given.action, given.model_extra or {}))
        except RefusedError as error:
            LOG.warning("Label Studio: not kept: %s", error)
            raise

    return router
