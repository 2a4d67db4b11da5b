// Figures as SVG files that need no style sheet.

const SVG = "http://www.w3.org/2000/svg";
const INLINED = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "vector-effect", "paint-order", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "overflow",
];
const LEFT = 62;
const RIGHT = 18;
const HEAD = 34;
const FOOT = 48;
/** From one line of a heading to the next. */
const LINE = 18;

/** Offers a file for saving. */
export function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Saves the panels of a figure, one below the other, in the colours of the light theme. */
export function saveFigure(picture, title, name) {
  save(`${name}.svg`, "image/svg+xml", figureFile(picture, title));
}

/** The SVG file of a figure, as text. */
export function figureFile(picture, title) {
  const copy = picture.cloneNode(true);
  copy.style.cssText = `position: absolute; left: -9999px; width: ${picture.clientWidth}px; color-scheme: light`;
  picture.after(copy);
  try {
    return serialize(copy, title);
  } finally {
    copy.remove();
  }
}

function serialize(copy, title) {
  const file = document.createElementNS(SVG, "svg");
  let top = 0;
  let width = 0;
  for (const panel of copy.querySelectorAll(".panel")) {
    const plot = panel.querySelector("svg.plot");
    const box = plot.getBoundingClientRect();
    const { parts, lines, right } = heading(panel, top, LEFT + box.width);
    top += HEAD + (lines - 1) * LINE;
    const placed = inlined(plot);
    for (const [key, value] of Object.entries({ x: LEFT, y: top, width: box.width, height: box.height, overflow: "visible" })) placed.setAttribute(key, value);
    file.append(...parts, placed);
    top += box.height + FOOT;
    width = Math.max(width, Math.ceil(right) + RIGHT, LEFT + box.width + RIGHT);
  }
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${top}`, width, height: top })) file.setAttribute(key, value);
  const name = document.createElementNS(SVG, "title");
  name.textContent = title;
  const paper = document.createElementNS(SVG, "rect");
  for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: "#fff" })) paper.setAttribute(key, value);
  file.prepend(name, definitions(file), paper);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(file)}\n`;
}

/** The width of a text in the font of an element; that of the element itself is less if the page wraps it. */
function textWidth(text, { fontWeight, fontSize, fontFamily }) {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.font = `${fontWeight} ${fontSize} ${fontFamily}`;
  return canvas.measureText(text).width;
}

/** The quantity of a panel and its legend from `top` on: their parts, the number of lines, and where the longest line ends. A key that would end to the right of `end` begins a line. */
function heading(panel, top, end) {
  const parts = [];
  let [left, lines, right] = [LEFT, 1, LEFT];
  const put = (source, text, begin) => {
    const made = document.createElementNS(SVG, "text");
    const style = getComputedStyle(source);
    for (const [key, value] of Object.entries({ x: begin, y: top + 20 + (lines - 1) * LINE, fill: style.color, "font-size": style.fontSize, "font-family": style.fontFamily, "font-weight": style.fontWeight })) made.setAttribute(key, value);
    made.textContent = text;
    parts.push(made);
    left = begin + textWidth(text, style);
    right = Math.max(right, left);
  };
  const quantity = panel.querySelector(".quantity");
  put(quantity, [...quantity.childNodes].map((node) => node.textContent).join(" "), left);
  for (const key of panel.querySelectorAll(".legend .key")) {
    const text = key.textContent.trim();
    left += 18;
    if (left > LEFT + 18 && left + SAMPLE + textWidth(text, getComputedStyle(key)) > end) [left, lines] = [LEFT, lines + 1];
    const sample = sampleOf(key);
    sample.setAttribute("x", left);
    sample.setAttribute("y", top + 11 + (lines - 1) * LINE);
    parts.push(sample);
    put(key, text, left + SAMPLE);
  }
  return { parts, lines, right };
}

/** The width of the sample of a curve in a legend, with the space after it. */
const SAMPLE = 26;

/** The sample of a curve or of an area in a legend. */
function sampleOf(key) {
  const swatch = key.querySelector("svg");
  if (swatch) return inlined(swatch);
  const block = document.createElementNS(SVG, "rect");
  const fill = getComputedStyle(key.querySelector(".block") ?? key).backgroundColor;
  for (const [name, value] of Object.entries({ width: 19, height: 10, fill })) block.setAttribute(name, value);
  return block;
}

/** A copy whose styles are attributes. */
function inlined(source) {
  const copy = source.cloneNode(true);
  const pairs = [[source, copy], ...[...source.querySelectorAll("*")].map((part, index) => [part, copy.querySelectorAll("*")[index]])];
  for (const [from, to] of pairs) {
    const style = getComputedStyle(from);
    for (const key of INLINED) if (style.getPropertyValue(key)) to.setAttribute(key, style.getPropertyValue(key));
    if (style.transform !== "none") to.setAttribute("transform", style.transform);
    for (const name of ["class", "tabindex", "style"]) to.removeAttribute(name);
    for (const name of Object.keys(to.dataset)) delete to.dataset[name];
  }
  return copy;
}

/** The shapes of the marks that the file uses. */
function definitions(file) {
  const made = document.createElementNS(SVG, "defs");
  const names = new Set([...file.querySelectorAll("use")].map((use) => use.getAttribute("href").slice(1)));
  for (const name of names) {
    const shape = document.getElementById(name);
    if (shape) made.append(shape.cloneNode(true));
  }
  return made;
}
