// Lessons: the text of a step, the controls to move, and whether the step's aim has been reached.

import { factText, factValue, WORLDS } from "./answer.js";
import { element } from "./element.js";

const holds = ({ above, below }, value) =>
  typeof value === "number" && (above === undefined || value > above) && (below === undefined || value < below);

/** Whether all conditions of a step hold. `fact(world, id)` and `setting(path)` give measured values and present settings. */
export function reached(step, fact, setting) {
  return step.check.every((condition) => {
    if (condition.setting === undefined) return holds(condition, fact(condition.world, condition.id));
    const value = setting(condition.setting);
    return "equals" in condition ? value === condition.equals : holds(condition, value);
  });
}

/** Shows a step; its result is hidden until `showResult`. `go(index)` opens another step, `control(wanted)` makes the control of a setting or of a choice of the lesson, `leave()` closes the lesson. */
export function show(holder, lesson, { step: index, reached: done }, { go, control, leave }) {
  const step = lesson.steps[index];
  const dots = lesson.steps.map((one, at) => {
    const label = `Step ${at + 1}: ${one.title}${done.has(at) ? ", reached" : ""}`;
    const mark = done.has(at) ? "✓" : String(at + 1);
    return element("button", { type: "button", class: done.has(at) ? "step done" : "step", "aria-label": label, "aria-current": at === index ? "step" : false, onclick: () => go(at) }, mark);
  });
  const controls = [...(step.choices ?? []), ...(step.use ?? [])].map(control).filter(Boolean);
  const last = index + 1 === lesson.steps.length;
  const next = last
    ? element("button", { type: "button", class: "primary", id: "next", onclick: leave }, "Close the lesson")
    : element("button", { type: "button", class: "primary", id: "next", onclick: () => go(index + 1) }, "Next step");
  holder.replaceChildren(
    element("div", { class: "lesson-head" }, element("h2", { id: "lesson-title" }, lesson.title), element("nav", { "aria-label": "Steps of the lesson" }, ...dots)),
    element("h3", { id: "step-title", tabindex: "-1" }, step.title),
    ...step.text.map((paragraph) => element("p", {}, paragraph)),
    element("p", { class: "task" }, step.task),
    element("div", { class: "lesson-controls" }, ...controls),
    element("dl", { class: "watched" }),
    element("p", { class: "reached", role: "status", hidden: true }, step.reached),
    element("div", { class: "lesson-foot" }, next),
  );
  holder.classList.toggle("is-reached", done.has(index));
}

/** A text in which `{packets queue.max}` stands for that fact of the last run. */
const filled = (text, fact) => text.replace(/\{(\w+) ([^}]+)\}/g, (_, world, id) => factText(fact(world, id)));

/** Shows the measured values on which a step depends, and those in its result. `fact(world, id)` is a fact of the last run. */
export function showWatched(holder, step, fact) {
  const watched = new Map(step.check.filter(({ id }) => id).map((one) => [`${one.world} ${one.id}`, one]));
  const lines = [...watched.values()].flatMap(({ world, id }) => {
    const found = fact(world, id);
    if (!found) return [];
    const name = WORLDS[world] ? `${found.label}, ${WORLDS[world].toLowerCase()}` : found.label;
    return [element("dt", {}, name), element("dd", {}, ...factValue(found))];
  });
  holder.querySelector(".watched").replaceChildren(...lines);
  holder.querySelector(".reached").textContent = filled(step.reached, fact);
}

/** Shows the result of a step while the last run has what the question asked for: other settings can make its text false. */
export function showResult(holder, isShown) {
  holder.querySelector(".reached").hidden = !isShown;
}

/** Marks the present step as reached. */
export function markReached(holder, index) {
  holder.classList.add("is-reached");
  const dot = holder.querySelectorAll("nav .step")[index];
  dot.classList.add("done");
  dot.textContent = "✓";
  dot.setAttribute("aria-label", `${dot.getAttribute("aria-label")}, reached`);
}
