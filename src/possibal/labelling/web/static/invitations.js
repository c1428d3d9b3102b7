// Who is invited and who is in: for owners, who let others in and out.

import { get, post } from "./api.js";
import { button, el, select } from "./dom.js";
import { locale } from "./language.js";
import { t } from "./texts.js";
import { say } from "./translation.js";

const ROLES = [["annotator", t.annotatorRole], ["owner", t.ownerRole]];
const LOCAL = t.localOnly;

const day = (at) => new Date(at).toLocaleDateString(locale, { dateStyle: "medium" });

function stateOf({ joined, expires }) {
  if (joined !== null) return t.inSince(day(joined));
  return expires > Date.now() ? t.invitedUntil(day(expires)) : t.tooOld;
}

/** The address of an invitation, which is shown this once, with a button that copies it. */
function addressBox({ code, origins }, who) {
  const at = (origin) => `${origin}/#join=${code}&for=${encodeURIComponent(who)}`;
  const [first, ...others] = origins.length ? origins : [new URL(".", location.href).href.slice(0, -1)];
  const input = el("input", { value: at(first), readonly: true, test: "invitation-address" });
  const copy = button("", {
    test: "invitation-copy",
    click: async () => {
      input.select();
      const done = await navigator.clipboard?.writeText(input.value).then(() => true, () => false);
      copy.textContent = done ? t.copied : t.selectedCopy;
    },
  }, t.copy);
  return el("div.stack", { test: "invitation" },
    el("form.inline", { submit: (event) => event.preventDefault() },
      el("label.field.grow", el("span", t.sendThisTo(who)), input),
      copy),
    !origins.length && el("p.muted", LOCAL),
    others.length > 0 && el("details", el("summary", t.otherAddresses),
      el("ul", others.map((origin) => el("li", el("code", at(origin)))))));
}

/** What somebody of a role is called. */
function wordOf(role) {
  return { owner: t.ownerWord, platform: t.platformWord }[role] ?? t.annotatorWord;
}

/** The part of the view of people in which others are invited. */
export async function invitationsPart(page) {
  const body = el("tbody");
  const made = el("div");
  const problem = el("p.problem", { role: "alert", test: "invite-problem" });
  const line = (one) => el("tr", { test: "invited" },
    el("td", { dir: "auto" }, one.who ?? t.byTerminal, one.is_mine && ` ${t.thisBrowser}`),
    el("td", wordOf(one.role)), el("td", stateOf(one)),
    el("td", button(".quiet", {
      test: "withdraw", click: () => withdraw(one),
      "aria-label": one.who === null ? t.withdrawTerminal : t.withdrawOf(one.who),
    }, one.joined === null ? t.withdraw : t.sendAway)));
  const show = ({ invitations }) => body.replaceChildren(...invitations.map(line));
  const act = async (work) => {
    problem.textContent = "";
    try {
      const reply = await work();
      show(reply);
      return reply;
    } catch (error) {
      say(problem, error.message);
      return null;
    }
  };
  const withdraw = async ({ number, is_mine: isMine }) => {
    if (isMine) {
      problem.textContent = t.ownBrowser;
      return;
    }
    made.replaceChildren();
    await act(() => post("withdraw", { number }));
  };
  const name = el("input", { test: "invite-name", maxlength: 60, required: true, autocomplete: "off" });
  let role = "annotator";
  const submit = async (event) => {
    event.preventDefault();
    const who = name.value.trim();
    if (!who) return;
    const reply = await act(() => post("invite", { who, role }));
    if (!reply) return;
    name.value = "";
    made.replaceChildren(addressBox(reply, who));
    made.querySelector("input").select();
  };
  await page.attempt(async () => show(await get("invitations")));
  const head = [t.person, t.role, t.state, ""].map((words) => el("th", { scope: "col" }, words));
  return el("section.card", { test: "invitations" }, el("h2", t.invitations),
    el("p.muted", t.ownAddresses),
    el("form.inline", { submit }, el("label.field", el("span", t.name), name),
      select(t.role, "invite-role", ROLES, (value) => (role = value)),
      button(".main", { type: "submit", test: "invite" }, t.invite), problem),
    made,
    el("div.scroll", { tabindex: 0, role: "region", "aria-label": t.invitations },
      el("table.list", el("thead", el("tr", head)), body)));
}
