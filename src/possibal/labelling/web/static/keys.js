// Which key does what.

import { el, openDialog } from "./dom.js";
import { isSeveral } from "./labels.js";
import { t } from "./texts.js";
import { languageField } from "./translation.js";

/** The keys that are the same in every campaign. */
export const FIXED = new Map([
  ["s", { act: "skip", words: t.keySkip }],
  ["u", { act: "unsure", words: t.keyUnsure }],
  ["b", { act: "bad", words: t.keyBad }],
  ["Backspace", { act: "undo", words: t.keyUndo }],
  ["m", { act: "comment", words: t.commentOnRow }],
  ["g", { act: "guidelines", words: t.keyGuidelines }],
  ["w", { act: "why", words: t.keyWhy }],
  ["z", { act: "zoom", words: t.keyZoom }],
  ["?", { act: "keys", words: t.keyAll }],
]);

const capital = (key) => (key.length === 1 ? key.toUpperCase() : NAMES[key] ?? key);
const NAMES = { Backspace: t.keyBackspace };
const CLASS_KEYS = [..."1234567890abcdefghijklmnopqrstuvwxyz"].filter((key) => !FIXED.has(key));

/** The key of the class at this place, or null when the keys have run out. */
export const classKey = (place) => CLASS_KEYS[place] ?? null;

/** The name of the key as a digit, letter or word; digits also by their place on the keyboard. */
function nameOf(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (FIXED.has(key) || CLASS_KEYS.includes(key)) return key;
  return event.shiftKey ? key : (/^Digit(\d)$/.exec(event.code)?.[1] ?? key);
}

/** Whether the key belongs to a field or the browser. */
function taken(event) {
  return event.ctrlKey || event.altKey || event.metaKey
    || event.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]");
}

/**
 * What a key means: {act}, or {place} of a class, which is -1 if the key is of none; and its `key`.
 * Null if it is not for us: typed in a field, held down, or no letter, digit or sign at all.
 */
export function meaningOf(event) {
  if (event.repeat || taken(event)) return null;
  if (event.key === "Enter")
    return isSeveral() && !event.target.closest?.("a, summary, button:not(.class)") ? { act: "confirm", key: "Enter" } : null;
  const key = nameOf(event);
  const meant = FIXED.get(key) ?? { place: CLASS_KEYS.indexOf(key) };
  return meant.place === -1 && (key.length !== 1 || key === " ") ? null : { ...meant, key };
}

/** Calls `act` with what each key means that is pressed outside of fields and windows. */
export function listen(act) {
  document.addEventListener("keydown", (event) => {
    // A held Enter would press a focused button again and again.
    if (event.repeat && event.target.closest?.("button")) event.preventDefault();
    const meant = document.querySelector("dialog[open]") ? null : meaningOf(event);
    if (meant && act(meant, event)) event.preventDefault();
  });
}

/** What is said of a key that does nothing. */
export function wrongKey({ key }, classes) {
  const [first, ...others] = classes.map((_, place) => classKey(place)).filter(Boolean).map(capital);
  return t.wrongKey(capital(key), first, others.at(-1), others.length > 1);
}

/** Opens the list of all keys. */
export function showKeys(classes) {
  const line = (key, words) => el("div", el("dt", el("kbd", capital(key))), el("dd", words));
  const labels = classes.map((label, place) => classKey(place) && line(classKey(place), label));
  const others = [...FIXED].map(([key, { words }]) => line(key, words));
  const confirm = isSeveral() && line(t.keyEnter, t.keyConfirm);
  const close = line(t.keyEscape, t.keyClose);
  openDialog(t.keys, el("dl.keys", { test: "keys" }, labels, confirm, others, close), languageField());
}
