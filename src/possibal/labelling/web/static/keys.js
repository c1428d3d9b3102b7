// Which key does what.

import { el, openDialog } from "./dom.js";

/** The keys that are the same in every campaign. */
export const FIXED = new Map([
  ["s", { act: "skip", words: "Skip: come back to this row later" }],
  ["u", { act: "unsure", words: "Not sure: ask somebody else" }],
  ["b", { act: "bad", words: "Bad item: drop this row" }],
  ["Backspace", { act: "undo", words: "Undo the last answer" }],
  ["w", { act: "why", words: "Show or hide “Why this one?”" }],
  ["z", { act: "zoom", words: "Look closer at the picture" }],
  ["?", { act: "keys", words: "Show all keys" }],
]);

const CLASS_KEYS = [..."1234567890abcdefghijklmnopqrstuvwxyz"].filter((key) => !FIXED.has(key));

/** The key of the class at this place, or null when the keys have run out. */
export const classKey = (place) => CLASS_KEYS[place] ?? null;

/** The name of the key as a digit, letter or word; digits also by their place on the keyboard. */
function nameOf(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (FIXED.has(key) || CLASS_KEYS.includes(key)) return key;
  return event.shiftKey ? key : (/^Digit(\d)$/.exec(event.code)?.[1] ?? key);
}

/** Whether the key belongs to a field, a window or the browser. */
function taken(event) {
  return event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")
    || event.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]");
}

/** Calls `act` with {act} or {place} of a class for each key pressed outside of fields. */
export function listen(act) {
  document.addEventListener("keydown", (event) => {
    // A held Enter would press a focused button again and again.
    if (event.repeat && event.target.closest?.("button")) event.preventDefault();
    if (event.repeat || taken(event)) return;
    const key = nameOf(event);
    const meant = FIXED.get(key) ?? { place: CLASS_KEYS.indexOf(key) };
    if (meant.place !== -1 && act(meant, event)) event.preventDefault();
  });
}

/** Opens the list of all keys. */
export function showKeys(classes) {
  const capital = (key) => (key.length === 1 ? key.toUpperCase() : key);
  const line = (key, words) => el("div", el("dt", el("kbd", capital(key))), el("dd", words));
  const labels = classes.map((label, place) => classKey(place) && line(classKey(place), label));
  const others = [...FIXED].map(([key, { words }]) => line(key, words));
  const close = line("Esc", "Close a window like this one");
  openDialog("Keys", el("dl.keys", { test: "keys" }, labels, others, close));
}
