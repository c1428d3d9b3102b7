// The learning curve: how often the model is right, with its interval.

import { count, el, percent, svg } from "./dom.js";
import { t } from "./texts.js";

const WIDTH = 320;
const HEIGHT = 170;
const LEFT = 44;
const RIGHT = 312;
const TOP = 10;
const BOTTOM = 136;

/** Where answers and accuracies fall in the drawing. */
function scales(points) {
  const first = points[0].answers;
  const last = Math.max(points.at(-1).answers, first + 1);
  const floor = Math.min(0.9, Math.floor(10 * Math.min(...points.map(({ low }) => low))) / 10);
  return {
    first, last, floor,
    x: (answers) => LEFT + ((RIGHT - LEFT) * (answers - first)) / (last - first),
    y: (share) => BOTTOM - ((BOTTOM - TOP) * (share - floor)) / (1 - floor),
  };
}

const path = (places) => places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

function axes({ first, last, floor, x, y }) {
  const text = (words, at) => svg("text", at, words);
  const ticks = [floor, (1 + floor) / 2, 1].flatMap((share) => [
    svg("line", { x1: LEFT, x2: RIGHT, y1: y(share), y2: y(share), class: "grid" }),
    text(percent(share), { x: LEFT - 6, y: y(share) + 4, "text-anchor": "end" }),
  ]);
  return [
    ...ticks,
    text(count(first), { x: x(first), y: BOTTOM + 16, "text-anchor": "start" }),
    text(count(last), { x: x(last), y: BOTTOM + 16, "text-anchor": "end" }),
    text(t.labelsWord, { x: (LEFT + RIGHT) / 2, y: BOTTOM + 30, "text-anchor": "middle" }),
  ];
}

/** The curve as a figure whose caption says its last point in words. */
export function curve(points) {
  const scale = scales(points);
  const at = (name) => points.map((point) => [scale.x(point.answers), scale.y(point[name])]);
  const last = points.at(-1);
  const interval = t.range(percent(last.low), percent(last.high));
  const words = t.rightOnAbout(percent(last.accuracy), interval, last.answers);
  const drawing = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve",
    role: "img", "aria-labelledby": "curve-title curve-desc",
  },
  svg("title", { id: "curve-title" }, t.learningCurve),
  svg("desc", { id: "curve-desc" }, `${words} ${t.beganAt(percent(points[0].accuracy))}`),
  axes(scale),
  svg("polygon", { points: path([...at("high"), ...at("low").reverse()]), class: "band" }),
  svg("polyline", { points: path(at("accuracy")), class: "line" }),
  svg("circle", { cx: scale.x(last.answers), cy: scale.y(last.accuracy), r: 3.5, class: "dot" }));
  return el("figure", { test: "curve" }, drawing, el("figcaption", words));
}
