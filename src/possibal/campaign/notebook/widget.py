"""The widget itself: an exchange with a campaign, in whatever notebook anywidget knows.

campaign.widget()        in Jupyter, VS Code, Colab and marimo
"""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from possibal.campaign.notebook.exchange import LabellingExchange, View

if TYPE_CHECKING:  # which shows the widget itself
    from possibal.campaign.interface import CampaignInterface

HERE = Path(str(files("possibal.campaign.notebook")))


class LabellingWidget(anywidget.AnyWidget):
    """Asks about rows and keeps the answers in a campaign.

    Attributes:
        view: what is shown, as values of JSON.
        map: the rows in the plane, once somebody looked at them.
    """

    _esm = HERE / "widget.js"
    _css = HERE / "widget.css"
    view = traitlets.Dict().tag(sync=True)
    map = traitlets.Dict().tag(sync=True)

    def __init__(
        self, campaign: "CampaignInterface", show: Callable[[Any], Any] | None = None
    ) -> None:
        """Show the next question of a campaign; see :meth:`possibal.Campaign.widget`."""
        super().__init__()
        self._exchange = LabellingExchange(campaign, self._published, show)
        self.on_msg(self._received)

    def refresh(self) -> None:
        """Show the campaign as it is now, if another cell changed it."""
        self._exchange.receive({"act": "look"})

    def _published(self, view: View) -> None:
        """Show a view; one that says that the next is on its way leaves the question."""
        self.view = {**self.view, **view}

    def _received(self, _widget: object, action: object, _buffers: object) -> None:
        """Take an action from the browser."""
        if not isinstance(action, dict):
            return
        if action.get("act") == "map":
            self.map = self._exchange.map()
        else:
            self._exchange.receive(action)
