// The results: figures of both worlds side by side, their facts, and the analysis.

import { align, alignAcross } from "./axes.js";
import { element } from "./element.js";
import { saveFigure } from "./figure-file.js";

/** The worlds and their names on the page. */
export const WORLDS = { packets: "Packets", fluid: "Equations" };
/** From top to bottom. */
const ORDER = ["rates", "queue", "delay-over-time", "delay"];

/** The results of the last run. Pictures stay until the next ones arrive. */
export class Answer {
  constructor() {
    this.facts = { packets: [], fluid: [], analysis: [] };
    /** For each world the times between which its facts are measured, in seconds. */
    this.measured = {};
    this.warnings = {};
    this.parts = new Map();
    /** Ends the listeners of the plots of a part of the page. */
    this.listeners = new Map();
  }

  /** A fact of the last run: `fact("packets", "utilization")`. */
  fact(world, id) {
    return this.facts[world]?.find((fact) => fact.id === id);
  }

  /** Figures of a run, or of its beginning up to `until` seconds. */
  showFigures({ world, until, measured, figures, facts, warnings }) {
    this.showPart(world, until);
    this.facts[world] = facts;
    this.measured[world] = measured;
    this.warnings[world] = warnings ?? [];
    const worlds = document.getElementById("worlds");
    const known = (id) => (ORDER.includes(id) ? ORDER.indexOf(id) : ORDER.length);
    for (const figure of [...figures].sort((one, other) => known(one.id) - known(other.id))) {
      const row = known(figure.id);
      const rank = row * Object.keys(WORLDS).length + Object.keys(WORLDS).indexOf(world);
      this.place(worlds, { slot: `${figure.id}-${world}`, rank, classes: `row-${row} of-${world}` }, figure, WORLDS[world]);
    }
    const present = new Set(figures.map((figure) => `${figure.id}-${world}`));
    for (const slot of worlds.querySelectorAll(`.of-${world}`)) if (!present.has(slot.dataset.slot)) slot.remove();
    for (const { id } of figures) this.alignWorlds(id);
    this.listen(worlds);
    this.showFacts();
  }

  /** The same axes for the figures of both worlds. */
  alignWorlds(id) {
    const plots = Object.keys(WORLDS).map((world) => document.querySelector(`[data-slot="${id}-${world}"] svg.plot`));
    if (!plots.every(Boolean)) return;
    align(...plots);
    if (!plots.some((plot) => plot.classList.contains("over-time"))) alignAcross(...plots);
  }

  /** The verdict of the analysis, or why there is none. */
  showSentence(sentence) {
    document.getElementById("sentence").textContent = capitalized(sentence) || "\u00a0";
  }

  /** Whether this is the sentence that is shown. */
  hasSentence(sentence) {
    return document.getElementById("sentence").textContent === capitalized(sentence);
  }

  showAnalysis({ sentence, figures, facts }) {
    this.facts.analysis = facts;
    this.showSentence(sentence);
    const analysis = document.getElementById("analysis");
    for (const [rank, figure] of figures.entries()) this.place(analysis, { slot: figure.id, rank, classes: `figure-${figure.id}` }, figure, "");
    const present = new Set(figures.map((figure) => figure.id));
    for (const slot of analysis.querySelectorAll("[data-slot]")) if (!present.has(slot.dataset.slot)) slot.remove();
    this.listen(analysis);
    this.showFacts();
  }

  /** Replaces the figure of a slot in one step, so that nothing flickers. Slots stand in the order of `rank`, in which they are read and reached by Tab, whichever arrives first. */
  place(container, { slot, rank, classes }, figure, world) {
    let holder = container.querySelector(`[data-slot="${slot}"]`);
    if (!holder) {
      const title = element("h3", {});
      const save = element("button", { type: "button", class: "save" }, "SVG");
      holder = element("section", { "data-slot": slot, "data-rank": rank, class: classes }, element("header", {}, title, save), element("div", { class: "picture" }));
      save.addEventListener("click", () => saveFigure(holder.querySelector(".picture"), title.textContent, slot));
      const next = [...container.children].find((other) => Number(other.dataset.rank) > rank);
      container.insertBefore(holder, next ?? null);
    }
    const title = world ? `${figure.title}, ${world.toLowerCase()}` : figure.title;
    holder.querySelector("h3").textContent = title;
    holder.querySelector(".save").setAttribute("aria-label", `Save "${title}" as an SVG file`);
    const read = document.createElement("template");
    read.innerHTML = figure.html;
    const picture = holder.querySelector(".picture");
    const focused = picture.contains(document.activeElement);
    picture.replaceChildren(read.content);
    if (figure.description) picture.querySelector("svg.plot")?.setAttribute("aria-description", figure.description);
    if (focused) picture.querySelector("svg.plot")?.focus({ preventScroll: true });
  }

  /** Values under the pointer, and one time axis for all plots of `part`. */
  listen(part) {
    this.listeners.get(part.id)?.abort();
    const listening = new AbortController();
    this.listeners.set(part.id, listening);
    millpondCharts(part, listening.signal);
  }

  /** One row for each fact, with a column for each world; then those of the analysis. */
  showFacts() {
    const worlds = Object.keys(WORLDS).filter((world) => this.facts[world].length);
    const names = new Map(worlds.flatMap((world) => this.facts[world].map((fact) => [fact.id, fact])));
    const cell = (world, id) => element("td", {}, number(this.fact(world, id)?.value, isWholeRow(id)));
    const isWholeRow = (id) => worlds.every((world) => Number.isInteger(this.fact(world, id)?.value ?? 0));
    const rows = [...names.values()].map((fact) => element("tr", { "data-fact": fact.id },
      element("th", { scope: "row" }, fact.label, unit(fact)), ...worlds.map((world) => cell(world, fact.id))));
    const heads = worlds.map((world) => element("th", { scope: "col" }, WORLDS[world]));
    const measured = element("table", {}, element("caption", {}, this.measuredTime(worlds)),
      element("thead", {}, element("tr", {}, element("td", {}), ...heads)), element("tbody", {}, ...rows));
    const lines = this.facts.analysis.filter((fact) => fact.value !== null).map((fact) => element("tr", { "data-fact": fact.id },
      element("th", { scope: "row" }, fact.label, unit(fact)), element("td", {}, number(fact.value))));
    const computed = element("table", {}, element("caption", {}, "Computed"), element("tbody", {}, ...lines));
    const warnings = new Set(Object.values(this.warnings).flat());
    document.getElementById("warnings").replaceChildren(...[...warnings].map((text) => element("li", {}, text)));
    document.getElementById("facts").replaceChildren(...(rows.length ? [measured] : []), ...(lines.length ? [computed] : []));
  }

  /** The caption of the measured facts: the time in which they are measured, for each world if it differs between them. */
  measuredTime(worlds) {
    const times = worlds.filter((world) => this.measured[world]).map((world) => {
      const [from, to] = this.measured[world];
      return { world, text: `from ${seconds(from)} to ${seconds(to)}` };
    });
    const isSame = times.every(({ text }) => text === times[0].text);
    const parts = isSame ? times.slice(0, 1).map(({ text }) => text) : times.map(({ world, text }) => `${WORLDS[world]} ${text}`);
    return ["Measured", parts.join(", ")].filter(Boolean).join(isSame ? " " : ": ");
  }

  /** Says how much of an unfinished run is drawn. */
  showPart(world, until) {
    if (until === undefined) this.parts.delete(world);
    else this.parts.set(world, `${WORLDS[world]}: the first ${number(until)} s`);
    document.getElementById("part").textContent = [...this.parts.values()].join(", ");
  }

  /** Removes the results of a world that could not run. */
  drop(world) {
    this.showPart(world);
    this.facts[world] = [];
    this.warnings[world] = [];
    for (const slot of document.querySelectorAll(`.of-${world}`)) slot.remove();
    this.showFacts();
  }

  /** Removes what belongs to another scenario. */
  clear() {
    this.facts = { packets: [], fluid: [], analysis: [] };
    this.measured = {};
    this.warnings = {};
    for (const world of Object.keys(WORLDS)) this.showPart(world);
    for (const listening of this.listeners.values()) listening.abort();
    this.listeners.clear();
    for (const id of ["worlds", "analysis", "facts", "warnings"]) document.getElementById(id).replaceChildren();
    this.showSentence("");
  }
}

const capitalized = (sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1);

/** The value of a fact with its unit, as nodes. */
export const factValue = (fact) => [number(fact.value), unit(fact)].filter(Boolean);

/** The same as text; a dash without the fact. An angle has no space before its degrees. */
export const factText = (fact) => (fact ? [number(fact.value), fact.unit].filter(Boolean).join(fact.unit === "°" ? "" : "\u00a0") : number());

const unit = (fact) => (fact.unit ? element("span", { class: "unit" }, fact.unit) : null);

/** Smaller values are errors of rounding: a picosecond in milliseconds. */
const NEGLIGIBLE = 1e-9;

const seconds = (value) => `${Number(value.toPrecision(6))}\u00a0s`;

/** Three digits, without exponent where a reader expects none; a whole number without decimals, unless the numbers beside it have some. */
export function number(value, isWhole = Number.isInteger(value)) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(Number(value.toPrecision(3)));
  if (size < NEGLIGIBLE) return "0";
  if (isWhole) return String(value).replace("-", "−");
  if (size < 1e-3) return value.toExponential(1).replace("-", "−");
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toFixed(digits).replace("-", "−");
}
