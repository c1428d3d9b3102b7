// Messages above the view: connection, refused answers, advice.

import { connection } from "./api.js";
import { ENGLISH, button, el } from "./dom.js";
import { t } from "./texts.js";

/** What to do when the server does not know this browser. */
export const LOCKED = t.locked;
const UNSAFE = t.unsafe;

function waitingWords(number) {
  if (connection.state === "connected")
    return t.sendingKept(number);
  return number ? t.keptAway(number) : t.awayGoOn;
}

function connectionBanner(waiting, behind) {
  const kept = waiting ? ` ${t.answersKept(waiting)}` : "";
  if (connection.state === "locked")
    return el("p.banner.alarm", { test: "locked" }, LOCKED, kept);
  if (!behind) return null;
  const props = { test: "offline", "data-waiting": waiting };
  return el("p.banner.warn", props, waitingWords(waiting));
}

/** What was refused, and why in the server's words. */
function actionWords({ path, said, sentence }) {
  const words = said ?? (path === "undo" ? t.undoWord : t.anAnswer);
  return [`${words[0].toUpperCase()}${words.slice(1)}: `, el("span", ENGLISH, sentence)];
}

function refusedBanner(outbox) {
  const refused = outbox.refused();
  if (!refused.length) return null;
  return el("div.banner.alarm", { test: "refused" },
    el("details", { open: refused.length < 4 }, el("summary", t.notAccepted(refused.length)),
      el("ul", refused.map((entry) => el("li", actionWords(entry))))),
    button(".quiet", { click: () => outbox.forgetRefused(), test: "refused-clear" }, t.clear));
}

const words = (nodes) => nodes.map(({ textContent }) => textContent).join("\n");

/** Keeps the messages up to date; the result's `notice` shows a sentence, or what a
 * function makes, that can be put away. */
export function startBanners(place, outbox) {
  let said = null;
  let behind = false;
  const hush = () => {
    said = null;
    render();
  };
  const noticeBanner = () =>
    said && el("p.banner", { test: "notice" },
      el("span", typeof said === "function" ? said() : said), button(".quiet", { click: hush }, t.close));
  const render = () => {
    const waiting = outbox.pending().length;
    behind = connection.state !== "connected" || (behind && waiting > 0);
    const unsafe = !outbox.safe && waiting > 0 && el("p.banner.alarm", UNSAFE);
    const all = [connectionBanner(waiting, behind), unsafe, refusedBanner(outbox), noticeBanner()];
    const fresh = all.filter(Boolean);
    // The same words stay as they are, so that focus and opened lists stay too.
    if (words(fresh) !== words([...place.children])) place.replaceChildren(...fresh);
  };
  connection.addEventListener("change", render);
  outbox.addEventListener("change", render);
  window.addEventListener("storage", render);
  render();
  return { notice: (words) => { said = words; render(); } };
}
