// Sliders, choices and readings of a scenario.

import { element } from "./element.js";
import { Readings } from "./readings.js";

/** Positions of a slider; fine enough that a step is not visible. */
const POSITIONS = 1000;

/** Groups with these names come first, in this order; parameters of laws follow. */
const GROUPS = ["Protocol", "Capacity", "RTT", "Flows", "Buffer", "Time"];

/** More readings or parameters of a law are folded. */
const FEW = 4;

/** In place of a path: the law of all flows. */
const ALL = "*";

/** What a value does and where it comes from, with its key. */
const about = ({ path, meaning, origin }) => [meaning, origin && `(${origin})`, path && `– ${path}`].filter(Boolean).join(" ");

const isLog = ({ scale, minimum }) => scale === "log" && minimum > 0;

/** The value at a position of the slider, rounded to three digits, or to a whole number. */
export function valueAt(slider, position) {
  const { minimum, maximum } = slider;
  const share = position / POSITIONS;
  if (share <= 0) return minimum;
  if (share >= 1) return maximum;
  const exact = isLog(slider) ? minimum * (maximum / minimum) ** share : minimum + (maximum - minimum) * share;
  return slider.whole ? Math.round(exact) : Number(exact.toPrecision(3));
}

/** The position of a value on the slider. */
export function positionOf(slider, value) {
  const { minimum, maximum } = slider;
  const share = isLog(slider) ? Math.log(value / minimum) / Math.log(maximum / minimum) : (value - minimum) / (maximum - minimum);
  return Math.round(POSITIONS * Math.min(1, Math.max(0, share || 0)));
}

const plain = (value) => (Math.abs(value) >= 1e-4 || value === 0 ? String(value) : value.toFixed(12).replace(/0+$/, ""));
/** A value with its unit; a word, such as "unlimited", if there is no number. */
const shown = (slider, value) => (typeof value !== "number" ? String(value) : `${plain(Number(value.toPrecision(4)))}${slider.unit ? `\u00a0${slider.unit}` : ""}`);

/** Returns the focus to the control of a path after its element has been replaced. */
export function focusOn(container, path) {
  if (path) container.querySelector(`[data-path="${CSS.escape(path)}"]`)?.focus({ preventScroll: true });
}

let identifiers = 0;

/** The present value of a slider: a number or a word. */
export const valueOf = (slider) => (slider.kind === "choice" ? slider.text : (slider.value ?? slider.text));

/** The controls of a scenario. `isChanged(path)` says whether its text is overridden. `change(path, text, settled)` gets each new value, `reset(path)` each that is taken back. */
export class Controls {
  constructor({ isChanged, change, reset }) {
    this.isChanged = isChanged;
    this.change = change;
    this.reset = reset;
    /** For each path, all controls on the page that show it: a lesson repeats those of its step. */
    this.shown = new Map();
    this.sliders = new Map();
    /** What readings change, and below which switches it is shown: by path. */
    this.readings = new Readings();
    this.outcomes = new Map();
  }

  /** Shows the sliders of a scenario in `container`; the elements stay if only values differ. */
  show(container, sliders) {
    this.sliders = new Map(sliders.map((slider) => [slider.path, slider]));
    const signature = JSON.stringify(sliders.map(({ value, text, ...fixed }) => fixed));
    // A slider that is being dragged must stay.
    if (signature !== container.dataset.signature && !document.querySelector("input[type=range]:active")) {
      container.dataset.signature = signature;
      this.build(container, sliders);
    }
    for (const slider of sliders) this.update(slider);
    for (const copy of this.shown.get(ALL) ?? []) copy.showValue(this.commonLaw());
    this.showOutcomes();
  }

  /** Shows below each switch which figures of the paper its other values change. */
  showOutcomes() {
    const switches = [...this.sliders.values()].filter(({ law, reading }) => law && reading);
    for (const [path, holder] of this.outcomes) {
      const slider = this.sliders.get(path);
      const group = switches.filter((other) => other.group === slider?.group);
      const values = Object.fromEntries(group.map((other) => [other.law, String(valueOf(other))]));
      const signature = JSON.stringify([this.readings.papers.length, values]);
      if (!slider || holder.dataset.values === signature) continue;
      holder.dataset.values = signature;
      const made = this.readings.outcome(slider, values);
      holder.replaceChildren(...(made ? [made] : []));
    }
  }

  build(container, sliders) {
    const open = new Set([...container.querySelectorAll("details[open]")].map((fold) => fold.dataset.group));
    const isRebuilt = container.childElementCount > 0;
    const focused = container.contains(document.activeElement) ? document.activeElement.dataset.path : undefined;
    this.forget(container);
    this.outcomes.clear();
    container.replaceChildren();
    const names = [...new Set(sliders.map((slider) => slider.group))];
    const rank = (name) => (GROUPS.includes(name) ? GROUPS.indexOf(name) : GROUPS.length);
    names.sort((one, other) => rank(one) - rank(other));
    for (const name of names) {
      const members = sliders.filter((slider) => slider.group === name);
      const ordinary = members.filter((slider) => !slider.reading);
      const readings = members.filter((slider) => slider.reading);
      if (name === "Protocol") container.append(this.protocols(members));
      else if (GROUPS.includes(name)) container.append(this.group(name, ordinary));
      else {
        const isOpen = (title, count) => (isRebuilt ? open.has(title) : count <= FEW);
        for (const [title, some] of [[`Readings of ${name}`, readings], [`Parameters of ${name}`, ordinary]]) {
          if (some.length) container.append(this.folded(title, some, isOpen(title, some.length)));
        }
      }
    }
    focusOn(container, focused);
  }

  group(name, sliders) {
    const rows = sliders.map((slider) => this.control(slider));
    return element("fieldset", {}, element("legend", {}, name), ...rows);
  }

  /** Readings or parameters of a law, below a title that folds them. */
  folded(title, sliders, open) {
    const rows = sliders.flatMap((slider) => (slider.reading ? this.reading(slider) : [this.control(slider)]));
    return element("details", { open, "data-group": title, class: sliders[0].reading ? "readings" : false }, element("summary", {}, title), ...rows);
  }

  /** A reading with what it decides, the figure, equation or section of the paper, and what its other values change. */
  reading(slider) {
    const text = [slider.meaning, slider.origin && `(${slider.origin})`].filter(Boolean).join(" ");
    const outcome = element("div", {});
    this.outcomes.set(slider.path, outcome);
    return [this.control(slider), ...(text ? [element("p", { class: "hint" }, text)] : []), outcome];
  }

  /** One choice for all flows, and one for each group of flows if there are several. */
  protocols(sliders) {
    const rows = sliders.length > 1 ? sliders.map((slider) => this.control(slider)) : [];
    return element("fieldset", {}, element("legend", {}, "Law of the flows"), this.allFlows(), ...rows);
  }

  /** The choice of the law of all flows. */
  allFlows() {
    const sliders = this.lawsOfFlows();
    if (!sliders.length) return null;
    const set = (value) => {
      for (const slider of sliders) this.change(slider.path, value, slider === sliders.at(-1));
    };
    const made = this.selection({ path: ALL, label: "all flows", choices: sliders[0].choices, kind: "choice", text: this.commonLaw() }, set);
    if (!this.shown.has(ALL)) this.shown.set(ALL, []);
    this.shown.get(ALL).push(made);
    return made.element;
  }

  lawsOfFlows() {
    return [...this.sliders.values()].filter((slider) => slider.group === "Protocol");
  }

  /** The law of all flows; empty if they differ. */
  commonLaw() {
    const values = new Set(this.lawsOfFlows().map(valueOf));
    return values.size === 1 ? [...values][0] : "";
  }

  /** A control of this path anywhere on the page; null if the scenario has none. */
  copyOf(path) {
    if (path === ALL) return this.allFlows();
    const slider = this.sliders.get(path);
    if (!slider) return null;
    const copy = this.control(slider);
    this.update(slider);
    return copy;
  }

  /** Drops the controls below an element that is about to be replaced. */
  forget(container) {
    for (const [path, copies] of this.shown) this.shown.set(path, copies.filter((copy) => !container.contains(copy.element)));
  }

  control(slider) {
    const set = (text, settled) => this.change(slider.path, text, settled);
    const made = slider.kind === "choice"
      ? (slider.choices.length <= 3 ? this.radios(slider, set) : this.selection(slider, set))
      : this.range(slider, set);
    if (!this.shown.has(slider.path)) this.shown.set(slider.path, []);
    this.shown.get(slider.path).push(made);
    return made.element;
  }

  resetButton(slider) {
    const press = () => this.reset(slider.path);
    return element("button", { type: "button", class: "reset", "aria-label": `Reset ${slider.label}`, title: "Reset", onclick: press, hidden: true }, "↺");
  }

  range(slider, set) {
    const id = `control-${(identifiers += 1)}`;
    const output = element("output", { for: id });
    const input = element("input", { id, type: "range", min: 0, max: POSITIONS, step: 1, "data-path": slider.path });
    const reset = this.resetButton(slider);
    const show = (value) => {
      output.textContent = shown(slider, value);
      input.setAttribute("aria-valuetext", output.textContent);
    };
    const moved = (settled) => {
      const value = valueAt(slider, Number(input.value));
      show(value);
      for (const copy of this.shown.get(slider.path)) if (copy.input !== input) copy.showValue(value);
      set(`${plain(value)}${slider.unit ?? ""}`, settled);
    };
    input.addEventListener("input", () => moved(false));
    input.addEventListener("change", () => moved(true));
    const showValue = (value) => {
      if (typeof value === "number") input.value = positionOf(slider, value);
      show(value);
    };
    const label = element("label", { for: id, title: about(slider) }, slider.label);
    return { element: element("div", { class: "control" }, label, output, reset, input), input, showValue, reset };
  }

  radios(slider, set) {
    const name = `control-${(identifiers += 1)}`;
    const inputs = slider.choices.map((choice) => {
      const press = () => set(choice.value, true);
      const input = element("input", { type: "radio", name, value: choice.value, onchange: press, "data-path": slider.path });
      const figure = choice.figure ? element("small", {}, choice.figure) : null;
      return element("label", { title: choice.meaning || false }, input, element("span", {}, choice.label ?? choice.value), figure);
    });
    const reset = this.resetButton(slider);
    const title = element("span", { class: "label", id: `${name}-label`, title: about(slider) }, slider.label);
    const row = element("div", { class: "control choice", role: "radiogroup", "aria-labelledby": `${name}-label` }, title, reset, element("div", { class: "radios" }, ...inputs));
    const showValue = (value) => {
      for (const input of row.querySelectorAll("input")) input.checked = input.value === String(value);
    };
    return { element: row, showValue, reset };
  }

  selection(slider, set) {
    const id = `control-${(identifiers += 1)}`;
    const options = slider.choices.map((choice) => element("option", { value: choice.value }, choice.meaning ? `${choice.value} – ${choice.meaning}` : choice.value));
    const input = element("select", { id, "data-path": slider.path, onchange: () => set(input.value, true) }, ...options);
    const reset = this.resetButton(slider);
    const showValue = (value) => {
      input.value = value;
      if (input.value !== String(value)) input.selectedIndex = -1;
    };
    const label = element("label", { for: id, title: slider.path === ALL ? false : about(slider) }, slider.label);
    showValue(valueOf(slider));
    return { element: element("div", { class: "control" }, label, reset, input), input, showValue, reset };
  }

  /** Shows the value of a slider in all its controls, except in one that is being dragged. */
  update(slider) {
    for (const copy of this.shown.get(slider.path) ?? []) {
      if (!copy.input?.matches(":active")) copy.showValue(valueOf(slider));
      copy.reset.hidden = !this.isChanged(slider.path);
    }
  }
}
