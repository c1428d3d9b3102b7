// Messages above the view: connection, refused answers, advice.

import { connection } from "./api.js";
import { button, el, plural } from "./dom.js";

/** What to do when the server does not know this browser. */
export const LOCKED =
  "This browser is not signed in any more: open the address of a new invitation.";
const UNSAFE = "This browser cannot keep answers: do not close the page before they are sent.";

function waitingWords(number) {
  if (connection.state === "connected")
    return `Connected again: sending ${plural(number, "kept answer")}.`;
  if (!number) return "Not connected. Trying again; you can go on labelling.";
  const [are, answers] = number === 1 ? ["is", "answer"] : ["are", "answers"];
  return `Not connected: ${number} ${answers} ${are} kept in this browser and will be sent.`;
}

function connectionBanner(waiting, behind) {
  const kept = waiting ? ` ${plural(waiting, "answer")} kept in this browser.` : "";
  if (connection.state === "locked")
    return el("p.banner.alarm", { test: "locked" }, LOCKED, kept);
  if (!behind) return null;
  const props = { test: "offline", "data-waiting": waiting };
  return el("p.banner.warn", props, waitingWords(waiting));
}

function actionWords({ path, said, sentence }) {
  const words = said ?? (path === "undo" ? "undo" : "an answer");
  return `${words[0].toUpperCase()}${words.slice(1)}: ${sentence}`;
}

function refusedBanner(outbox) {
  const refused = outbox.refused();
  if (!refused.length) return null;
  return el("div.banner.alarm", { test: "refused" },
    el("details", { open: refused.length < 4 }, el("summary", `Not accepted: ${refused.length}`),
      el("ul", refused.map((entry) => el("li", actionWords(entry))))),
    button(".quiet", { click: () => outbox.forgetRefused(), test: "refused-clear" }, "Clear"));
}

const words = (nodes) => nodes.map(({ textContent }) => textContent).join("\n");

/** Keeps the messages up to date; the result's `notice` shows a sentence that can be put away. */
export function startBanners(place, outbox) {
  let said = null;
  let behind = false;
  const hush = () => {
    said = null;
    render();
  };
  const noticeBanner = () =>
    said && el("p.banner", { test: "notice" },
      el("span", said), button(".quiet", { click: hush }, "Close"));
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
