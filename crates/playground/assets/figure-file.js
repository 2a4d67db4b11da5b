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
    file.append(...heading(panel, top));
    const placed = inlined(plot);
    for (const [key, value] of Object.entries({ x: LEFT, y: top + HEAD, width: box.width, height: box.height, overflow: "visible" })) placed.setAttribute(key, value);
    file.append(placed);
    top += HEAD + box.height + FOOT;
    width = Math.max(width, LEFT + box.width + RIGHT);
  }
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${top}`, width, height: top })) file.setAttribute(key, value);
  const name = document.createElementNS(SVG, "title");
  name.textContent = title;
  const paper = document.createElementNS(SVG, "rect");
  for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: "#fff" })) paper.setAttribute(key, value);
  file.prepend(name, definitions(file), paper);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(file)}\n`;
}

/** The quantity of a panel and its legend. */
function heading(panel, top) {
  const parts = [];
  let left = LEFT;
  const put = (source, text, gap) => {
    const made = document.createElementNS(SVG, "text");
    const style = getComputedStyle(source);
    for (const [key, value] of Object.entries({ x: left, y: top + 20, fill: style.color, "font-size": style.fontSize, "font-family": style.fontFamily, "font-weight": style.fontWeight })) made.setAttribute(key, value);
    made.textContent = text;
    parts.push(made);
    left += source.getBoundingClientRect().width + gap;
  };
  const quantity = panel.querySelector(".quantity");
  put(quantity, [...quantity.childNodes].map((node) => node.textContent).join(" "), 18);
  for (const key of panel.querySelectorAll(".legend .key")) {
    const swatch = key.querySelector("svg");
    if (swatch) {
      const sample = inlined(swatch);
      sample.setAttribute("x", left);
      sample.setAttribute("y", top + 11);
      parts.push(sample);
    } else {
      const block = document.createElementNS(SVG, "rect");
      const fill = getComputedStyle(key.querySelector(".block") ?? key).backgroundColor;
      for (const [name, value] of Object.entries({ x: left, y: top + 11, width: 19, height: 10, fill })) block.setAttribute(name, value);
      parts.push(block);
    }
    left += 26;
    put(key, key.textContent.trim(), 4);
    left -= 22;
  }
  return parts;
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
