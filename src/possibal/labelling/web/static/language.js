// The language of the page, and numbers and dates as people write them in it.

import { BrowserStorage } from "./storage.js";

/** The languages that there are texts for, each by its own name. */
export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français" };

const NAME = "language";
const kept = new BrowserStorage("browser", "/");
const wanted = [kept.read(NAME, ""), ...navigator.languages];
const of = (tag) => tag.toLowerCase().split("-")[0];

/** What was chosen in this browser, else what the browser asks for, else English. */
export const language = wanted.map(of).find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? "en";

/** The same with the region that the browser names, in which numbers and dates may differ. */
export const locale = navigator.languages.find((tag) => of(tag) === language) ?? language;

/** Shows the page in another language from now on. */
export function choose(tag) {
  kept.write(NAME, tag);
  location.reload();
}

/** The number as people write it: 12,345. */
export const count = (number) => Number(number).toLocaleString(locale);

/** A number with so many digits after the point. */
export const decimal = (number, digits) =>
  number.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** A share of 1 as a whole percentage. */
export const percent = (share) =>
  (Math.round(100 * share) / 100).toLocaleString(locale, { style: "percent" });
