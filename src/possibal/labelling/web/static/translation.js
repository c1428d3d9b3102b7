// The page in its language: what stands in the HTML itself, and the choice of another one.

import { isServers } from "./api.js";
import { select } from "./dom.js";
import { LANGUAGES, choose, language } from "./language.js";
import { t } from "./texts.js";

/** Puts texts in place of those in the HTML: `data-text` for content, `data-label-text` for what is read aloud. */
export function fillPage() {
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t[node.dataset.text];
  for (const node of document.querySelectorAll("[data-label-text]"))
    node.setAttribute("aria-label", t[node.dataset.labelText]);
}

/** A choice of the language. */
export function languageField() {
  const node = select(t.language, "language", Object.entries(LANGUAGES), choose);
  node.querySelector("select").value = language;
  for (const option of node.querySelectorAll("option")) option.lang = option.value;
  return node;
}

/** Writes a sentence, which may be one of the server's, so that it is read aloud in its own language. */
export function say(node, sentence) {
  node.textContent = sentence;
  if (isServers(sentence)) node.lang = "en";
  else node.removeAttribute("lang");
}
