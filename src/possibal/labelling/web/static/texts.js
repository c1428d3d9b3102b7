// The texts of the page in its language, of which alone the file is loaded.

import { language } from "./language.js";

/** Texts by their names; those with names or numbers in them are functions. */
export const { texts: t } = await import(`./texts/${language}.js`);
