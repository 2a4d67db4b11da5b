// Readings of papers: which figures come out differently when a switch changes.

import { element } from "./element.js";

/** Whether the value of a row is accepted. */
const isAccepted = (value) => value.endsWith(" accepted") && !value.endsWith(" not accepted");

/** The readings of all papers, as the server sends them, beside the switches of a scenario. */
export class Readings {
  constructor(papers = []) {
    this.papers = papers;
  }

  /** The paper whose readings a switch selects, by the key of the switch. */
  paperOf(key) {
    return key && this.papers.find((paper) => key in paper.defaults);
  }

  /** What the other values of a switch change: an element; null if there is nothing to say. `set` are the values of the switches of the same law. */
  outcome(slider, set) {
    const paper = this.paperOf(slider.law);
    if (!paper) return null;
    const values = { ...paper.defaults, ...set };
    const now = nearest(paper.readings, values);
    if (differences(now.set, values).length) return unmeasured(slider, now);
    const parts = slider.choices.filter(({ value }) => value !== values[slider.law]).map(({ value }) => {
      const having = paper.readings.filter((reading) => reading.set[slider.law] === value);
      return having.length ? comparison(paper, now, nearest(having, values), slider.law) : null;
    });
    return element("div", { class: "outcome" }, ...parts);
  }
}

/** The keys of the switches with another value. */
const differences = (set, values) => Object.keys(set).filter((key) => set[key] !== values[key]);

/** The reading that differs from the values in the fewest switches. */
const nearest = (readings, values) =>
  readings.reduce((best, one) => (differences(one.set, values).length < differences(best.set, values).length ? one : best));

/** A note at a switch whose value leads away from every reading that has been measured. */
function unmeasured(slider, reading) {
  if (reading.set[slider.law] === String(slider.text)) return null;
  const text = `With this value the paper's recipes have not been measured; the nearest reading, "${reading.name}", has ${reading.set[slider.law]} here.`;
  return element("p", { class: "hint outcome" }, text);
}

/** The recipes that come out differently under the reading `other` than under `now`, which differ in the switch `key` and perhaps in more. */
function comparison(paper, now, other, key) {
  const more = differences(other.set, now.set).filter((one) => one !== key).map((one) => `${one.split(".")[1]} = ${other.set[one]}`);
  const setting = [other.set[key], ...more].join(" and ");
  const title = other.name === setting ? `With ${setting}` : `With ${setting} (reading "${other.name}")`;
  const [from, to] = [now, other].map((reading) => paper.readings.indexOf(reading));
  const changing = paper.recipes.map((recipe) => differing(recipe, from, to)).filter(({ rows }) => rows.length);
  if (!changing.length) return element("p", {}, `${title}, no recipe of the paper changes.`);
  const count = changing.length === 1 ? "1 recipe of the paper changes" : `${changing.length} recipes of the paper change`;
  const counts = changing.filter(({ recipe }) => recipe.accepted[from] !== recipe.accepted[to]).length;
  return element("details", { "data-reading": other.name },
    element("summary", {}, `${title}, ${count}, ${counts} of them in the number of accepted rows`),
    element("p", { class: "hint" }, `${paper.title}. ${other.about}`),
    element("ul", {}, ...changing.map((one) => recipeItem(one, from, to))));
}

/** A recipe with its rows that have another value, those with another verdict first. */
function differing(recipe, now, other) {
  const rows = recipe.changing.filter(({ values }) => values[now] !== values[other]);
  const turned = ({ values }) => isAccepted(values[now]) !== isAccepted(values[other]);
  return { recipe, rows: [...rows.filter(turned), ...rows.filter((row) => !turned(row))] };
}

/** A recipe: its place in the paper, how many rows are accepted, and the rows that change, folded. */
function recipeItem({ recipe, rows }, now, other) {
  const link = element("a", { href: `/papers/${recipe.name}.toml`, target: "_blank", rel: "noopener", title: `millpond papers readings ${recipe.name}` }, recipe.place);
  const { accepted, rows: all } = recipe;
  const counts = accepted[now] === accepted[other]
    ? `${accepted[now]} of ${all} rows accepted as now`
    : `${accepted[other]} of ${all} rows accepted, now ${accepted[now]}`;
  const lines = rows.map(({ what, case: name, accepted: bounds, values }) =>
    element("li", {}, `${what}, ${name}: ${values[now]} → ${values[other]} (expected ${bounds})`));
  const summary = rows.length === 1 ? "The row that changes" : `The ${rows.length} rows that change`;
  return element("li", { "data-recipe": recipe.name }, link, ` ${recipe.title}: ${counts}.`,
    element("details", {}, element("summary", {}, summary), element("ul", {}, ...lines)));
}
