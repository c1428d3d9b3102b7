"""The widget in a browser without any notebook: Python's widget, and anywidget's interface of it.

with launched() as browser: page = shown(browser, campaign.widget())

What the browser sends goes to the widget itself, and every view that it publishes comes back.
"""

from typing import Any

from playwright.sync_api import Browser, Page, expect
from support.browser import PATIENCE, WIDE

from possibal.campaign.notebook.widget import HERE, LabellingWidget

HOST = """
async ({ source, state }) => {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const widget = (await import(url)).default;
  const listeners = {};
  window.sent = [];
  window.hold = false;
  window.adopt = (changes) => {
    for (const [name, value] of changes) {
      state[name] = value;
      for (const act of listeners[`change:${name}`] ?? []) act();
    }
  };
  window.release = async () => {
    const all = window.sent.splice(0);
    for (const message of all) window.adopt(await window.toPython(message));
  };
  window.fire = (name) => (listeners[name] ?? []).forEach((act) => act());
  const model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => {},
    on: (name, act) => { (listeners[name] ??= []).push(act); },
    off: (name, act) => { listeners[name] = (listeners[name] ?? []).filter((one) => one !== act); },
    send: (message) => {
      if (window.dead) throw new Error("Cannot send");
      window.sent.push(message);
      if (!window.hold) window.release();
    },
  };
  window.stop = widget.render({ model, el: document.getElementById("cell") });
}
"""


def shown(browser: Browser, widget: LabellingWidget, **options: Any) -> Page:
    """A page that has the widget in it as a notebook would; whatever goes wrong in it is kept."""
    page = browser.new_context(**{"viewport": WIDE, **options}).new_page()
    page.set_default_timeout(PATIENCE)
    wrong = list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.extend(_foreign(request.url)))
    vars(page)["wrong"] = wrong
    changes = list[tuple[str, Any]]()
    widget.observe(lambda change: changes.append((change["name"], change["new"])), ["view", "map"])

    def to_python(message: dict[str, Any]) -> list[tuple[str, Any]]:
        """What the widget published because of a message."""
        changes.clear()
        widget._handle_custom_msg(message, [])  # noqa: SLF001 - as ipywidgets does
        return list(changes)

    page.expose_function("toPython", to_python)
    page.set_content(PAGE.format(css=(HERE / "widget.css").read_text()))
    state = {"view": widget.view, "map": widget.map}
    page.evaluate(HOST, {"source": (HERE / "widget.js").read_text(), "state": state})
    page.get_by_test_id("widget").wait_for()
    return page


PAGE = """<!doctype html><html lang="en"><head><title>Notebook</title>
<meta name="color-scheme" content="light dark"><style>{css}</style>
<style>body {{ margin: 0; background: Canvas }}</style></head>
<body><main id="cell"></main></body></html>"""


def _foreign(url: str) -> list[str]:
    """A request that leaves for somewhere else."""
    return [] if url.startswith(("about:", "data:", "blob:")) else [url]


def row_shown(page: Page) -> str:
    """The name of the row that is asked about."""
    return page.get_by_test_id("row-id").inner_text()


def answered(page: Page, number: int) -> None:
    """Wait until the widget counts so many labels, and can be answered again."""
    expect(page.get_by_test_id("labels")).to_have_text(str(number))
    expect(page.get_by_test_id("widget")).to_have_attribute("aria-busy", "false")
