// Making nodes without ever parsing markup.

import { percent } from "./language.js";
import { t } from "./texts.js";

export { count, decimal, percent } from "./language.js";

/** What marks a sentence of the server's, which is English whatever the page's language is. */
export const ENGLISH = Object.freeze({ lang: "en" });

const SVG = "http://www.w3.org/2000/svg";

const there = (value) => value !== null && value !== undefined && value !== false;

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (there(value))
      node.setAttribute(name === "test" ? "data-testid" : name, value === true ? "" : value);
  }
  node.append(...children.flat(2).filter(there));
  return node;
}

/**
 * A new element: `kind` is "tag.class.class"; a function among `props` listens to the event of its
 * name, `test` is the name by which tests find the element, all others are attributes.
 */
export function el(kind, props = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const node = document.createElement(tag);
  node.classList.add(...classes);
  const plain = props !== null && props?.constructor === Object;
  return plain ? fill(node, props, children) : fill(node, {}, [props, ...children]);
}

/** A new SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A button, such as button(".main", { click }, "Go"). */
export function button(kind, props, ...children) {
  return el(`button${kind}`, { type: "button", ...props }, ...children);
}

/** A name that may break behind what stands for a blank in it, and not only inside a word. */
export const breakable = (name) => name.split(/(?<=[_/-])/).flatMap((part) => [el("wbr"), part]).slice(1);

/** The key that presses a button, for the eye only. */
export const keycap = (words) => el("kbd", { "aria-hidden": "true" }, words);

/** A bar filled to `share` of its length, for the eye only: the number stands beside it. */
export function bar(share, colour = "") {
  const inner = el("span");
  inner.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  if (colour) inner.style.background = colour;
  return el("span.bar", { "aria-hidden": "true" }, inner);
}

/** A chance with its range on a line from 0 to 1. */
export function chanceBar({ value, low, high }) {
  const range = el("i");
  const mark = el("b");
  range.style.insetInlineStart = `${100 * low}%`;
  range.style.width = `${100 * (high - low)}%`;
  mark.style.insetInlineStart = `${100 * value}%`;
  return el("span.chance-bar", { "aria-hidden": "true" }, range, mark);
}

/** A select of [value, words] pairs, calling `change` with the value chosen. */
export function select(words, testid, pairs, change) {
  const options = pairs.map(([value, name]) => el("option", { value }, name));
  const box = el("select", { test: testid, change: () => change(box.value) }, options);
  return el("label.field", el("span", words), box);
}

/** Opens a dialog that Escape, its button or a click beside it closes; focus then goes back. */
export function openDialog(title, ...content) {
  const before = document.activeElement;
  const close = button(".quiet", { click: () => box.close(), test: "dialog-close" }, t.close);
  const head = el("header", el("h2", { id: "dialog-title" }, title), close);
  const box = el("dialog", { "aria-labelledby": "dialog-title", test: "dialog" },
    el("div.inside", head, ...content));
  box.addEventListener("click", (event) => event.target === box && box.close());
  box.addEventListener("close", () => {
    box.remove();
    const anew = () => document.querySelector(`[data-testid="${before?.dataset?.testid}"]`);
    (before?.isConnected ? before : anew())?.focus?.(); // what opened it may have been drawn anew
  });
  document.body.append(box);
  box.showModal();
  return box;
}

/** A chance in a few words; its range is left to where there is room. */
export const chanceWords = ({ value }) => t.chance(percent(value));
