// Labels as people read and choose them: a class, or where rows may have several the set of them.

import { t } from "./texts.js";

const BAR = "|";
const NONE = "none";
let several = false;

/** Lets labels be sets of classes, or single ones. */
export const readLabels = (multi) => { several = multi; };

export const isSeveral = () => several;

/** The classes that a label names. */
export function membersOf(label) {
  if (!label || (several && label === NONE)) return [];
  return several ? label.split(BAR) : [label];
}

/** The label that names these classes, as the server writes it. */
export const labelOf = (members) => [...new Set(members)].sort().join(BAR) || NONE;

/** A label in words. */
export const shown = (label) =>
  (several && label ? membersOf(label).join(", ") || t.noneOfThese : label);

/** The labels to choose from in a list: each class, and where rows may have several, none and `others`. */
export const choicesOf = (classes, others = []) =>
  (several ? [...new Set([...classes, ...others.filter(Boolean), NONE])] : classes);
