// How long answers take, in words.

import { t } from "./texts.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** "4 s an answer"; of the median of the last answers. */
export const perAnswer = (pace) => t.perAnswer(pace);

/** About so long, as people say it. */
export function duration(seconds) {
  if (seconds < 1.5 * MINUTE) return t.aboutMinute;
  if (seconds < 1.5 * HOUR) return t.aboutMinutes(Math.round(seconds / MINUTE));
  return t.aboutHours(Math.round(seconds / HOUR));
}
