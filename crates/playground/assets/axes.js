// The same vertical axis for a figure of packets and that of the equations beside it. Curves stay as they are: only the part of
// their grid that is visible changes, and the ticks.

const GRID_Y = 4000;
const TICKS = ":scope > :is(.tick-y, .grid)";
/** Ticks of a plot before it was aligned. */
const own = new WeakMap();

const scaleOf = (plot) => {
  const [spacing, low, high] = plot.dataset.y.split(" ");
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
