// How a browser comes in, to a campaign or to the home page.

import { Access, entrance } from "./access.js";
import { Refused, connection } from "./api.js";
import { LOCKED } from "./banners.js";
import { ENGLISH, el } from "./dom.js";
import { t } from "./texts.js";

/** Milliseconds until what failed is tried again. */
export const RETRY = 2_000;
/** Where the home page is that this page was opened from; null if there is none. */
export const HOME = location.pathname.startsWith("/campaigns/") ? "/" : null;

const byId = (id) => document.getElementById(id);
export const pause = (time) => new Promise((done) => setTimeout(done, time));

/** What `ask` returns once the server answers; until then the page says that it does not. */
export async function answered(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isLocked = connection.state === "locked";
      const words = isLocked ? LOCKED : t.tryingAgain;
      byId("view").replaceChildren(el("section.card.welcome",
        { test: isLocked ? "locked" : "offline" },
        el("h1", t.notConnected), el("p", error instanceof Refused ? ENGLISH : {}, error instanceof Refused ? error.message : words)));
      await pause(RETRY);
    }
  }
}

/** Waits at the entrance until somebody pastes an invitation that lets them in. */
async function letIn(access, reason) {
  const reload = () => location.reload(); // an invitation may be opened in this very tab
  window.addEventListener("hashchange", reload);
  for (;;) {
    const invitation = await new Promise((joined) => {
      const node = entrance(reason, joined);
      byId("view").replaceChildren(node);
      node.querySelector("input").focus();
    });
    try {
      await access.join(invitation);
      return window.removeEventListener("hashchange", reload);
    } catch (error) {
      reason = error instanceof Refused ? error.message : t.tryAgain;
    }
  }
}

/** Who this browser is, once it is in. */
export async function accessFound() {
  const access = await answered(() => Access.begin());
  let reason = "";
  const isIn = await answered(() => access.enter().catch((error) => {
    if (!(error instanceof Refused)) throw error;
    reason = error.message;
    return false;
  }));
  if (!isIn) await letIn(access, reason);
  return access;
}
