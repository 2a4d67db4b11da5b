// Values under the pointer and zooming. Charts are complete without it.
"use strict";

// Attaches to the plots within an element. A page that replaces plots ends the listeners of the old ones by an AbortSignal.
function millpondCharts(root, signal) {
  const SVG = "http://www.w3.org/2000/svg";
  const [GRID_X, GRID_Y] = [20000, 4000];
  const plots = [...root.querySelectorAll("svg.plot")].map(describe);
  // Plots over time share their axis within an element of class "own-time", and with all plots outside of such elements.
  const groups = new Map();
  for (const plot of plots.filter((plot) => plot.overTime)) {
    const key = plot.svg.closest(".own-time") ?? document;
    if (!groups.has(key)) groups.set(key, { plots: [], whole: [...plot.x.span], shown: [...plot.x.span] });
    plot.group = groups.get(key);
    plot.group.plots.push(plot);
  }
  let cursorTime = null;

  function describe(svg) {
    const scale = (text) => {
      const [spacing, low, high] = text.split(" ");
      return { log: spacing === "log", span: [Number(low), Number(high)] };
    };
    return {
      svg,
      x: scale(svg.dataset.x),
      y: scale(svg.dataset.y),
      overTime: svg.classList.contains("over-time"),
      plane: svg.classList.contains("plane"),
      curves: svg.querySelector(".curves"),
      unit: svg.closest(".panel").dataset.unit,
      readout: svg.closest(".panel").querySelector(".readout"),
    };
  }

  const valueAt = ({ log, span: [low, high] }, share) =>
    log ? low * (high / low) ** share : low + (high - low) * share;
  const shareOf = ({ log, span: [low, high] }, value) =>
    log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);

  // The path of a curve holds its data: whole steps on the grid. Each piece begins with M.
  function pointsOf(path) {
    if (path.points) return path.points;
    path.points = [];
    for (const piece of path.getAttribute("d").split("M").slice(1)) {
      const [start, steps] = piece.split("l");
      let [x, y] = start.split(" ").map(Number);
      const moves = steps.split(" ").map(Number);
      for (let at = 0; at + 1 < moves.length; at += 2) {
        path.points.push([(x += moves[at]), (y += moves[at + 1])]);
      }
    }
    return path.points;
  }

  function nearest(points, x) {
    let [low, high] = [0, points.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle][0] < x) low = middle + 1;
      else high = middle;
    }
    const before = points[Math.max(low - 1, 0)];
    const found = points[low];
    return found && before && x - before[0] < found[0] - x ? before : found;
  }

  const short = (value) => (Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3))));

  function valuesAt(plot, share) {
    const values = [];
    for (const path of plot.curves.querySelectorAll("path[data-name]")) {
      const point = nearest(pointsOf(path), share * GRID_X);
      if (!point || Math.abs(point[0] / GRID_X - share) > 0.03) continue;
      values.push(`${path.dataset.name} ${short(valueAt(plot.y, 1 - point[1] / GRID_Y))}`);
    }
    return values.join(" · ");
  }

  function cursorOf(plot) {
    let found = plot.svg.querySelector(".cursor");
    if (!found) {
      found = plot.svg.appendChild(document.createElementNS(SVG, "line"));
      found.setAttribute("class", "cursor");
      found.setAttribute("y2", "100%");
    }
    return found;
  }

  function moveCursor(plot, share) {
    const moved = plot.overTime ? plot.group.plots : [plot];
    if (plot.overTime) cursorTime = valueAt({ log: false, span: plot.group.shown }, share);
    for (const other of moved) {
      const whole = other.overTime ? shareOf(other.x, cursorTime) : share;
      const stroke = cursorOf(other);
      stroke.setAttribute("x1", `${100 * share}%`);
      stroke.setAttribute("x2", `${100 * share}%`);
      const place = other.overTime ? `${short(cursorTime)} s` : short(valueAt(other.x, share));
      other.readout.textContent = `${place}: ${valuesAt(other, whole)}`;
    }
  }

  function hideCursor() {
    cursorTime = null;
    for (const plot of plots) {
      plot.svg.querySelector(".cursor")?.remove();
      plot.readout.textContent = "";
    }
  }

  function roundStep(raw) {
    const power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].find((digit) => digit * power >= raw * 0.999) * power;
  }

  function zoom(group, [from, to]) {
    group.shown = [from, to];
    const whole = to - from >= group.whole[1] - group.whole[0];
    for (const plot of group.plots) {
      const left = shareOf(plot.x, from) * GRID_X;
      const right = shareOf(plot.x, to) * GRID_X;
      const [, top, , height] = plot.curves.getAttribute("viewBox").split(" ");
      plot.curves.setAttribute("viewBox", `${left} ${top} ${right - left} ${height}`);
      plot.svg.classList.toggle("zoomed", !whole);
      relabel(plot, from, to);
      moveMarks(plot, from, to);
    }
    hideCursor();
  }

  function relabel(plot, from, to) {
    const ticks = plot.svg.querySelector(".ticks-x");
    if (![...ticks.querySelectorAll("text")].some((text) => text.textContent)) return;
    const step = roundStep((to - from) / 6);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    ticks.replaceChildren();
    for (let index = Math.ceil(from / step - 1e-9); index * step <= to + 1e-9 * step; index += 1) {
      const text = ticks.appendChild(document.createElementNS(SVG, "text"));
      text.setAttribute("class", "tick-x");
      text.setAttribute("x", `${(100 * (index * step - from)) / (to - from)}%`);
      text.setAttribute("y", "100%");
      text.textContent = (index * step).toFixed(decimals);
    }
  }

  function moveMarks(plot, from, to) {
    for (const mark of plot.svg.querySelectorAll("use.mark")) {
      mark.dataset.x ??= parseFloat(mark.getAttribute("x")) / 100;
      const share = (valueAt(plot.x, Number(mark.dataset.x)) - from) / (to - from);
      mark.setAttribute("x", `${100 * share}%`);
      mark.style.display = share < 0 || share > 1 ? "none" : "";
    }
  }

  function shareUnder(plot, event) {
    const frame = plot.svg.querySelector(".curves").ownerSVGElement.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - frame.left) / frame.width));
  }

  function shareDown(plot, event) {
    const frame = plot.svg.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientY - frame.top) / frame.height));
  }

  function showPlace(plot, across, down) {
    plot.readout.textContent = `${short(valueAt(plot.x, across))}, ${short(valueAt(plot.y, 1 - down))}`;
  }

  function addListeners(plot) {
    let start = null;
    let selection = null;
    const share = (event) => shareUnder(plot, event);
    const listen = (kind, react) => plot.svg.addEventListener(kind, react, { signal });
    listen("pointerdown", (event) => {
      if (!plot.overTime || event.pointerType === "touch" || event.button !== 0) return;
      start = share(event);
      plot.svg.setPointerCapture(event.pointerId);
    });
    listen("pointermove", (event) => {
      if (plot.plane) showPlace(plot, share(event), shareDown(plot, event));
      else moveCursor(plot, share(event));
      if (start === null) return;
      if (!selection) {
        selection = plot.svg.appendChild(document.createElementNS(SVG, "rect"));
        selection.setAttribute("class", "selection");
        selection.setAttribute("height", "100%");
      }
      selection.setAttribute("x", `${100 * Math.min(start, share(event))}%`);
      selection.setAttribute("width", `${100 * Math.abs(share(event) - start)}%`);
    });
    listen("pointerup", (event) => {
      if (start === null) return;
      const chosen = [start, share(event)].sort((one, other) => one - other);
      start = null;
      selection?.remove();
      selection = null;
      if (chosen[1] - chosen[0] > 0.01) zoom(plot.group, chosen.map((end) => valueAt({ log: false, span: plot.group.shown }, end)));
    });
    listen("pointerleave", () => start === null && hideCursor());
    listen("dblclick", () => plot.overTime && zoom(plot.group, plot.group.whole));
    listen("keydown", (event) => {
      const step = { ArrowLeft: -0.01, ArrowRight: 0.01 }[event.key];
      if (!step || plot.plane) return;
      event.preventDefault();
      plot.readout.setAttribute("aria-live", "polite");
      const now = parseFloat(plot.svg.querySelector(".cursor")?.getAttribute("x1") ?? 50) / 100;
      moveCursor(plot, Math.min(1, Math.max(0, now + step)));
    });
  }

  plots.forEach(addListeners);
  const showAll = () => groups.forEach((group) => zoom(group, group.whole));
  addEventListener("keydown", (event) => event.key === "Escape" && showAll(), { signal });
  addEventListener("beforeprint", showAll, { signal });
}

millpondCharts(document);
