// Who this browser is here: the session that lets it in, and how it came by one.

import { Refused, get, post, setSession } from "./api.js";
import { button, el } from "./dom.js";
import { BrowserStorage } from "./storage.js";
import { t } from "./texts.js";
import { languageField, say } from "./translation.js";

const JOIN = /^#join=([\w-]{1,100})(?:&for=([^&]*))?$/;

/** 64 hex characters that nobody can guess. */
function drawn() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(32))];
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A name as it was before it became a part of an address; one that was cut off stays as it is. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The { code, who } of an address, or of what somebody pasted; null if it is no invitation. */
export function invitationIn(text) {
  const from = text.indexOf("#");
  const found = from < 0 ? null : text.slice(from).trim().match(JOIN);
  return found && { code: found[1], who: found[2] ? decoded(found[2]) : null };
}

/** Takes an invitation out of the address, so that it is neither copied nor kept with it. */
function takeInvitation() {
  const invitation = invitationIn(location.hash);
  if (invitation) history.replaceState(null, "", location.pathname);
  return invitation;
}

/** The session of this browser for one campaign; others at the same address have their own. */
export class Access {
  #storage;
  #found;
  other = null;

  constructor(found) {
    this.#found = found;
    this.#storage = new BrowserStorage(`access/${found.campaign}`);
  }

  /** What the server says of this campaign and of whoever asks. */
  static async begin() {
    setSession(null);
    const access = new Access(await get("session"));
    const take = () => setSession(access.#storage.read("session"));
    window.addEventListener("storage", take); // another tab may have joined anew
    take();
    return access;
  }

  get role() {
    return this.#found.role;
  }

  /** The name under which alone this person answers; null if they choose one. */
  get who() {
    return this.#found.who;
  }

  get isOwner() {
    return this.role === "owner";
  }

  /**
   * Whether the browser is in, by the session that it has or by an invitation in the address. One
   * that is for somebody else is not used: it is `other` then, for the person to decide.
   */
  async enter() {
    this.#found = await get("session"); // first: while the server is away, the address stays
    const invitation = takeInvitation();
    if (this.role === null) {
      const begun = invitation ?? this.#storage.read("joining");
      if (begun) await this.join(begun);
    } else if (invitation && !this.#isFor(invitation)) this.other = invitation;
    return this.role !== null;
  }

  #isFor({ who }) {
    return who === this.who && (who !== null || this.isOwner);
  }

  /** Exchanges an invitation for a session; it is kept first, so that a lost reply does no harm. */
  async join({ code, who }) {
    const kept = this.#storage.read("joining");
    const joining = kept?.code === code ? kept : { code, who, session: drawn(), pictures: drawn() };
    const { session, pictures } = joining;
    this.#storage.write("joining", joining);
    try {
      this.#found = await post("join", { code, session, pictures });
    } catch (error) {
      if (error instanceof Refused) this.#storage.remove("joining");
      throw error;
    }
    this.#storage.write("session", { session, pictures });
    this.#storage.remove("joining");
    setSession({ session, pictures });
  }

  /** Ends the session. */
  async leave() {
    await post("leave", {}).catch(() => null);
    this.#storage.remove("session");
    setSession(null);
    this.#found = { ...this.#found, role: null, who: null };
  }
}

/** What somebody sees who is not in; `joined` is called with the invitation that they paste. */
export function entrance(reason, joined) {
  const input = el("input", { test: "join-input", autocomplete: "off", spellcheck: "false" });
  const problem = el("p.problem", { test: "join-problem", role: "alert" });
  say(problem, reason);
  const submit = (event) => {
    event.preventDefault();
    const invitation = invitationIn(input.value);
    if (invitation) joined(invitation);
    else say(problem, t.noInvitation);
  };
  return el("section.card.welcome", { test: "entrance" }, el("h1", t.needInvitation),
    el("p", t.whatInvitationIs),
    problem,
    el("form.inline", { submit }, el("label.field", el("span", t.pasteInvitation), input),
      button(".main", { test: "join", type: "submit" }, t.comeIn)), languageField());
}
