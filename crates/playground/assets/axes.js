// The same axes for a figure of packets and that of the equations beside it.
//
// Vertically, curves stay as they are: only the part of their grid that is visible changes, and the ticks. Distributions also
// get a common horizontal axis, for which their points are moved.

const SVG = "http://www.w3.org/2000/svg";
const [GRID_X, GRID_Y] = [20000, 4000];
const TICKS = ":scope > :is(.tick-y, .grid)";
/** Ticks of a plot before it was aligned. */
const own = new WeakMap();

/** Horizontal axis with its title, paths and marks of a distribution before it was aligned. */
const ownAcross = new WeakMap();

/** The attribute with the horizontal place of a mark: of the marker of a series, and of the dot of a group. */
const PLACE = { use: "x", circle: "cx" };
const marksOf = (plot) => [...plot.querySelectorAll("use.mark, circle.point")];
const placeOf = (mark) => mark.getAttribute(PLACE[mark.localName]);
const titleOf = (plot) => plot.querySelector(":scope > .axis-title");
const setPlace = (mark, place) => mark.setAttribute(PLACE[mark.localName], place);

const scaleOf = (plot, axis = "y") => {
  const [spacing, low, high] = plot.dataset[axis].split(" ");
  return { spacing, low: Number(low), high: Number(high) };
};

/** The share of the height, from the bottom, at which a scale has a value. */
function shareOf({ spacing, low, high }, value) {
  return spacing === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** Gives both plots the axis of the one that shows more, if that one contains the other. */
export function align(one, other) {
  const scales = [scaleOf(one), scaleOf(other)];
  if (scales[0].spacing !== scales[1].spacing) return;
  for (const plot of [one, other]) restore(plot);
  const [wider, narrower] = scales[0].high >= scales[1].high ? [one, other] : [other, one];
  const [wide, narrow] = [scaleOf(wider), scaleOf(narrower)];
  if (wide.low > narrow.low) return;
  const [bottom, top] = [shareOf(wide, narrow.low), shareOf(wide, narrow.high)];
  const height = GRID_Y / (top - bottom);
  show(narrower, GRID_Y - height * (1 - bottom), height);
  for (const tick of narrower.querySelectorAll(TICKS)) tick.remove();
  for (const tick of [...wider.querySelectorAll(TICKS)].reverse()) narrower.prepend(tick.cloneNode(true));
}

function show(plot, top, height) {
  const curves = plot.querySelector(".curves");
  const [left, , width] = curves.getAttribute("viewBox").split(" ");
  curves.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
}

function restore(plot) {
  const ticks = [...plot.querySelectorAll(TICKS)];
  if (!own.has(plot)) {
    own.set(plot, ticks.map((tick) => tick.cloneNode(true)));
    return;
  }
  for (const tick of ticks) tick.remove();
  for (const tick of [...own.get(plot)].reverse()) plot.prepend(tick.cloneNode(true));
  show(plot, 0, GRID_Y);
}

/** The common axis of distributions spans at most this many powers of ten; smaller values are drawn at its left end. */
const DECADES = 6;

/** Gives two distributions one horizontal axis that contains both. An axis that is not logarithmic has values of zero alone. */
export function alignAcross(...plots) {
  for (const plot of plots) restoreAcross(plot);
  const scales = plots.map((plot) => scaleOf(plot, "x"));
  const logs = scales.filter(({ spacing }) => spacing === "log");
  if (!logs.length) return;
  const high = Math.max(...logs.map((scale) => scale.high));
  const whole = { spacing: "log", low: Math.max(high / 10 ** DECADES, Math.min(...logs.map(({ low }) => low))), high };
  const title = titleOf(plots[scales.indexOf(logs[0])]).textContent;
  plots.forEach((plot, index) => {
    // Zero stays at the left end.
    moveAcross(plot, logs.includes(scales[index]) ? scales[index] : whole, whole);
    titleOf(plot).textContent = title;
  });
}

function restoreAcross(plot) {
  const paths = [...plot.querySelectorAll(".curves path")];
  const marks = marksOf(plot);
  const own = ownAcross.get(plot);
  if (!own) {
    ownAcross.set(plot, { x: plot.dataset.x, title: titleOf(plot).textContent, paths: paths.map((path) => path.getAttribute("d")), marks: marks.map(placeOf) });
    return;
  }
  plot.dataset.x = own.x;
  titleOf(plot).textContent = own.title;
  paths.forEach((path, index) => setPath(path, own.paths[index]));
  marks.forEach((mark, index) => setPlace(mark, own.marks[index]));
}

function moveAcross(plot, { low, high }, whole) {
  const [from, to] = [shareOf(whole, low), shareOf(whole, high)];
  for (const path of plot.querySelectorAll(".curves path")) setPath(path, moved(path.getAttribute("d"), from, to - from));
  for (const mark of marksOf(plot)) setPlace(mark, `${Math.max(0, 100 * from + parseFloat(placeOf(mark)) * (to - from))}%`);
  plot.dataset.x = `log ${whole.low} ${whole.high}`;
  const ticks = plot.querySelector(".ticks-x");
  ticks.replaceChildren(...roundNumbers(whole).map((value) => {
    const text = document.createElementNS(SVG, "text");
    for (const [name, given] of [["class", "tick-x"], ["x", `${100 * shareOf(whole, value)}%`], ["y", "100%"]]) text.setAttribute(name, given);
    text.textContent = value < LEAST_WITHOUT_EXPONENT ? value.toExponential() : String(value);
    return text;
  }));
}

/** Replaces the data of a path; the script of charts reads its points again. */
function setPath(path, data) {
  path.setAttribute("d", data);
  delete path.points;
}

/** A path in whole steps, `M x y l dx dy …`, shifted and scaled horizontally; what is left of the axis is moved to its end. */
function moved(data, from, factor) {
  const place = (x) => Math.max(0, from * GRID_X + x * factor);
  return data.split("M").slice(1).map((piece) => {
    const [start, steps = ""] = piece.split("l");
    const [x, y] = start.trim().split(/\s+/).map(Number);
    let at = x;
    const moves = steps.trim().split(/\s+/).map((step, index) => {
      if (index % 2) return step;
      const before = place(at);
      at += Number(step);
      return place(at) - before;
    });
    return `M${place(x)} ${y}${steps ? `l${moves.join(" ")}` : ""}`;
  }).join("");
}

/** Smaller numbers on an axis have exponents. */
const LEAST_WITHOUT_EXPONENT = 1e-3;
/** A plot beside another one has room for so many powers of ten. */
const MOST_POWERS = 4;

/** 1, 2 and 5 times the powers of ten on an axis; the powers alone, or every second one, if these are many. */
function roundNumbers({ low, high }) {
  const found = [];
  const digits = high / low > 200 ? [1] : [1, 2, 5];
  const stride = Math.ceil(Math.log10(high / low) / MOST_POWERS);
  for (let power = stride * Math.floor(Math.log10(low) / stride); power <= Math.log10(high); power += stride) {
    for (const digit of digits) {
      const value = Number(`${digit}e${power}`);
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found;
}
