// The text of a scenario: line numbers, colours, faults at their lines, and completion.

import { proposals } from "./completion.js";
import { element } from "./element.js";

const TOKENS = /(#.*)|("(?:\\.|[^"\\\n])*"?|'[^'\n]*'?)|(^\s*\[\[?[^\]\n]*\]?\]?)|([\w."-]+(?=\s*=))|(\b(?:true|false)\b|(?<![\w.])[+-]?\d[\d_.eE+-]*)/gm;
const KINDS = ["comment", "string", "table", "key", "number"];

/** A text area over a coloured copy of its text. `changed` is called after each edit. */
export class Editor {
  constructor(holder, changed) {
    this.changed = changed;
    this.schema = null;
    this.faults = [];
    this.area = element("textarea", {
      id: "source", "aria-label": "Text of the scenario, TOML", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off",
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "completions", "aria-describedby": "faults",
    });
    this.gutter = element("div", { class: "gutter", "aria-hidden": "true" });
    this.colours = element("pre", { class: "colours", "aria-hidden": "true" });
    this.list = element("ul", { id: "completions", role: "listbox", "aria-label": "Completions", hidden: true });
    this.sheet = element("div", { class: "sheet" }, this.colours, this.area, this.list);
    holder.append(element("div", { class: "source" }, this.gutter, this.sheet));
    this.chosen = -1;
    this.area.addEventListener("input", () => this.edited());
    this.area.addEventListener("keydown", (event) => this.pressed(event));
    this.area.addEventListener("blur", () => this.close());
    this.area.addEventListener("click", () => this.close());
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    if (this.area.value !== text) this.area.value = text;
    this.paint();
  }

  edited() {
    this.faults = [];
    this.paint();
    this.changed(this.area.value);
    const before = this.area.value.slice(0, this.area.selectionStart);
    if (/(^|[\s{,.[])[\w-]+$|=\s*"[\w-]*$/.test(before)) this.propose();
    else this.close();
  }

  /** Marks the lines of faults. */
  showFaults(faults) {
    this.faults = faults;
    this.area.setAttribute("aria-invalid", faults.length > 0);
    this.paint();
  }

  /** Puts the cursor at a fault. */
  goTo({ line, column }) {
    const lines = this.area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + Math.max(0, (column ?? 1) - 1);
    this.area.focus();
    this.area.setSelectionRange(start, start);
    this.gutter.children[line - 1]?.scrollIntoView({ block: "center" });
  }

  paint() {
    const text = this.area.value;
    const lines = text.split("\n");
    this.area.rows = lines.length + 1;
    const byLine = new Map();
    for (const fault of this.faults) if (!byLine.has(fault.line)) byLine.set(fault.line, fault.message);
    this.gutter.replaceChildren(...lines.map((_, index) => {
      const message = byLine.get(index + 1);
      return element("span", { class: message ? "faulty" : false, title: message ?? false }, String(index + 1));
    }));
    this.colours.replaceChildren(...coloured(text), "\n");
  }

  // Completion

  propose(asked = false) {
    if (!this.schema || this.area.selectionStart !== this.area.selectionEnd) return this.close();
    this.found = proposals(this.schema, this.area.value, this.area.selectionStart).slice(0, 40);
    if (!this.found.length) return this.close();
    this.list.replaceChildren(...this.found.map((one, index) => {
      const pick = (event) => { event.preventDefault(); this.accept(index); };
      return element("li", { role: "option", id: `completion-${index}`, onmousedown: pick }, element("b", {}, one.label), element("span", {}, one.detail));
    }));
    const before = this.area.value.slice(0, this.found[0].from).split("\n");
    this.list.style.top = `calc(${before.length} * var(--line))`;
    this.list.style.left = `min(${before.at(-1).length}ch, max(0px, 100% - 21rem))`;
    this.list.hidden = false;
    this.area.setAttribute("aria-expanded", "true");
    this.choose(asked ? 0 : -1);
  }

  choose(index) {
    this.chosen = index;
    [...this.list.children].forEach((option, at) => option.setAttribute("aria-selected", at === index));
    if (index < 0) return this.area.removeAttribute("aria-activedescendant");
    this.area.setAttribute("aria-activedescendant", `completion-${index}`);
    this.list.children[index].scrollIntoView({ block: "nearest" });
  }

  accept(index) {
    const { from, text } = this.found[index];
    this.close();
    this.area.setRangeText(text, from, this.area.selectionEnd, "end");
    this.faults = [];
    this.paint();
    this.changed(this.area.value);
    this.area.focus();
  }

  close() {
    this.list.hidden = true;
    this.chosen = -1;
    this.area.setAttribute("aria-expanded", "false");
    this.area.removeAttribute("aria-activedescendant");
  }

  pressed(event) {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      return this.propose(true);
    }
    if (this.list.hidden) return undefined;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.choose((this.chosen + step + this.found.length) % this.found.length);
    else if (event.key === "Escape") this.close();
    else if ((event.key === "Enter" || event.key === "Tab") && this.chosen >= 0) this.accept(this.chosen);
    else return undefined;
    event.stopPropagation();
    return event.preventDefault();
  }
}

function coloured(text) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(TOKENS)) {
    const kind = KINDS.find((_, index) => match[index + 1] !== undefined);
    parts.push(text.slice(last, match.index), element("span", { class: `toml-${kind}` }, match[0]));
    last = match.index + match[0].length;
  }
  return [...parts, text.slice(last)];
}
