// Who is invited and who is in: for owners, who let others in and out.

import { get, post } from "./api.js";
import { button, el, select } from "./dom.js";

const ROLES = [["annotator", "Annotator: labels rows"], ["owner", "Owner: does everything"]];
const LOCAL = "This server is for this machine alone: start it with --host 0.0.0.0, or behind a "
  + "proxy, to let other machines in.";

const day = (at) => new Date(at).toLocaleDateString([], { dateStyle: "medium" });

function stateOf({ joined, expires }) {
  if (joined !== null) return `in since ${day(joined)}`;
  return expires > Date.now() ? `invited, until ${day(expires)}` : "invitation is too old";
}

/** The address of an invitation, which is shown this once, with a button that copies it. */
function addressBox({ code, origins }, who) {
  const at = (origin) => `${origin}/#join=${code}&for=${encodeURIComponent(who)}`;
  const [first, ...others] = origins.length ? origins : [location.origin];
  const input = el("input", { value: at(first), readonly: true, test: "invitation-address" });
  const copy = button("", {
    test: "invitation-copy",
    click: async () => {
      input.select();
      const done = await navigator.clipboard?.writeText(input.value).then(() => true, () => false);
      copy.textContent = done ? "Copied" : "Selected: copy it with Ctrl-C";
    },
  }, "Copy");
  return el("div.stack", { test: "invitation" },
    el("form.inline", { submit: (event) => event.preventDefault() },
      el("label.field.grow", el("span", `Send this to ${who}. It lets one browser in, once`), input),
      copy),
    !origins.length && el("p.muted", LOCAL),
    others.length > 0 && el("details", el("summary", "Other addresses of this machine"),
      el("ul", others.map((origin) => el("li", el("code", at(origin)))))));
}

/** The part of the view of people in which others are invited. */
export async function invitationsPart(page) {
  const body = el("tbody");
  const made = el("div");
  const problem = el("p.problem", { role: "alert", test: "invite-problem" });
  const line = (one) => el("tr", { test: "invited" },
    el("td", { dir: "auto" }, one.who ?? "by the address in the terminal", one.is_mine && " (this browser)"),
    el("td", one.role), el("td", stateOf(one)),
    el("td", button(".quiet", {
      test: "withdraw", click: () => withdraw(one),
      "aria-label": `Withdraw the invitation of ${one.who ?? "the terminal"}`,
    }, one.joined === null ? "Withdraw" : "Send away")));
  const show = ({ invitations }) => body.replaceChildren(...invitations.map(line));
  const act = async (work) => {
    problem.textContent = "";
    try {
      const reply = await work();
      show(reply);
      return reply;
    } catch (error) {
      problem.textContent = error.message;
      return null;
    }
  };
  const withdraw = async ({ number, is_mine: isMine }) => {
    if (isMine) {
      problem.textContent = "This is the browser that you use: sign out of it by your name above.";
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
  const head = ["Person", "Role", "State", ""].map((words) => el("th", { scope: "col" }, words));
  return el("section.card", { test: "invitations" }, el("h2", "Invitations"),
    el("p.muted", "Each person gets an address of their own, and answers under their own name."),
    el("form.inline", { submit }, el("label.field", el("span", "Name"), name),
      select("Role", "invite-role", ROLES, (value) => (role = value)),
      button(".main", { type: "submit", test: "invite" }, "Invite"), problem),
    made,
    el("div.scroll", { tabindex: 0, role: "region", "aria-label": "Invitations" },
      el("table.list", el("thead", el("tr", head)), body)));
}
