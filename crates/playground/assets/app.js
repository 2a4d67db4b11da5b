// The page: what happens when a control moves, the text changes, or an address is opened.

import { Answer, WORLDS } from "./answer.js";
import * as api from "./api.js";
import { withNames } from "./completion.js";
import { Controls, focusOn, valueOf } from "./controls.js";
import { Editor } from "./editor.js";
import { element } from "./element.js";
import { save } from "./figure-file.js";
import * as lessons from "./lessons.js";
import { Readings } from "./readings.js";
import { remember, restore, settings, state } from "./state.js";

/** The network is drawn at no less than this share of its size. */
const SMALLEST_DRAWING = 0.65;

const by = (id) => document.getElementById(id);
const LESSON = "lesson:";

const answer = new Answer();
const controls = new Controls({ isChanged: (path) => state.overrides.has(path), change: changeSetting, reset: resetSetting });
const editor = new Editor(by("editor"), changeText);
const known = { scenarios: new Map(), lessons: [], loaded: new Map() };
let lesson = null;
/** Whether the last run has what the step asks for. */
let isAnswered = false;
let checked = null;

// Runs: the latest request wins

/** A run that takes longer than this is stopped when the next one is requested; a shorter one ends, so that dragging shows pictures. */
const PATIENCE_MS = 120;
/** Progress is shown after this time. */
const PROGRESS_MS = 200;

/** `of` is what the last run was requested for. */
const run = { abort: null, began: 0, waiting: false, timer: 0, of: "" };

/** The scenario of the page, as a text that differs if any value differs. */
const present = () => JSON.stringify([state.text, settings()]);

function requestRun() {
  if (run.abort && performance.now() - run.began < PATIENCE_MS) {
    run.waiting = true;
    setTimeout(() => run.waiting && startRun(), PATIENCE_MS);
    return;
  }
  startRun();
}

async function startRun() {
  run.abort?.abort();
  const abort = new AbortController();
  Object.assign(run, { abort, began: performance.now(), waiting: false, of: present() });
  by("outdated").hidden = true;
  clearTimeout(run.timer);
  run.timer = setTimeout(() => { by("running").hidden = false; }, PROGRESS_MS);
  const faults = [];
  const done = new Map();
  const drawn = new Set();
  const receive = (message) => {
    if (abort.signal.aborted) return;
    if (message.kind === "figures") {
      drawn.add(message.world);
      answer.showFigures(message);
    } else if (message.kind === "analysis") answer.showAnalysis(message);
    else if (message.kind === "fault" && message.analysis) answer.showAnalysis({ sentence: message.faults[0].message, figures: [], facts: [] });
    else if (message.kind === "fault") faults.push(...message.faults.map((fault) => ({ ...fault, world: message.world })));
    else if (message.kind === "progress") {
      done.set(message.world, message.done);
      by("progress").value = Math.min(...done.values());
    } else if (message.kind === "done") by("timing").textContent = `computed in ${Math.round(message.milliseconds)} ms`;
  };
  try {
    const request = { text: state.text, overrides: settings(), worlds: ["packets", "fluid"], analysis: true, width: figureWidth() };
    await api.run(request, abort.signal, receive);
    if (run.abort === abort) finishRun(faults, drawn);
  } catch (error) {
    if (run.abort !== abort) return;
    if (abort.signal.aborted) endRun("Cancelled");
    else finishRun([faultOf(error)], drawn);
  }
}

/** Shows the end of a run. A world with a fault keeps the beginning that this run has drawn. */
function finishRun(faults, drawn) {
  // The fault of the equations is also that of their analysis, which needs no second sentence.
  if (faults.some(({ message }) => answer.hasSentence(message))) answer.showSentence("");
  for (const { world } of faults) if (world && !drawn.has(world)) answer.drop(world);
  showRunFaults(faults);
  document.body.dataset.runs = Number(document.body.dataset.runs ?? 0) + 1;
  // A run that waits has other settings, or belongs to another step.
  if (!run.waiting) judgeStep();
  endRun(faults.length ? faults[0].message : by("sentence").textContent);
}

/** Hides the progress, and begins the run that waits, if there is one. */
function endRun(message) {
  clearTimeout(run.timer);
  run.abort = null;
  by("running").hidden = true;
  by("progress").value = 0;
  if (run.waiting) startRun();
  else announce(message);
}

/** The faults of a run, each once; without the name of a world if both worlds have it. */
function showRunFaults(faults) {
  const found = new Map();
  for (const { world, message, help } of faults) {
    const key = JSON.stringify([message, help]);
    found.set(key, { message, help, worlds: [...(found.get(key)?.worlds ?? []), world].filter(Boolean) });
  }
  const items = [...found.values()].map(({ message, help, worlds }) => {
    const text = worlds.length === 1 ? `${WORLDS[worlds[0]]}: ${message}` : message;
    return element("li", {}, text, help ? element("small", {}, help) : null);
  });
  by("run-faults").replaceChildren(...items);
}

/** The width of one figure in CSS pixels. */
function figureWidth() {
  const whole = by("answer").clientWidth;
  return Math.round(matchMedia("(min-width: 40rem)").matches ? whole / 2 - 24 : whole);
}

let announcing = 0;
function announce(text) {
  clearTimeout(announcing);
  announcing = setTimeout(() => { by("announcement").textContent = text.trim(); }, 600);
}

// Checks: faults, drawing and sliders

let checking = null;
let checkTimer = 0;

function requestCheck(delay) {
  clearTimeout(checkTimer);
  checkTimer = setTimeout(checkNow, delay);
}

/** Checks the scenario; true if it has no fault. */
async function checkNow() {
  checking?.abort();
  checking = new AbortController();
  const { signal } = checking;
  try {
    const result = await api.check(state.text, settings(), signal);
    if (signal.aborted) return false;
    showCheck(result);
    return result.faults.length === 0;
  } catch (error) {
    if (!signal.aborted) report(error);
    return false;
  }
}

function showCheck(result) {
  checked = result;
  editor.showFaults(result.faults.filter(isInText));
  const [first] = result.faults.filter(isOfChange);
  by("faults").replaceChildren(...result.faults.filter((fault) => !isOfChange(fault) || fault === first).map(faultItem));
  const count = result.faults.length;
  const show = () => { selectTab("text"); if (isInText(result.faults[0])) editor.goTo(result.faults[0]); };
  const text = count === 1 ? "1 fault" : `${count} faults`;
  by("fault-count").replaceChildren(...(count ? [element("button", { type: "button", onclick: show }, text)] : []));
  if (count) announce(`${text}. ${result.faults[0].message}`);
  showOutdated(count > 0);
  if (result.drawing) showDrawing(result.drawing);
  if (count && !result.sliders.length) return;
  const before = by("sliders").dataset.signature;
  controls.show(by("sliders"), result.sliders);
  if (lesson && (before !== by("sliders").dataset.signature || !by("lesson").querySelector(".control"))) showLesson();
  showChanges();
}

/** A text with a fault is not run: the results on the page belong to an earlier one. */
function showOutdated(hasFault) {
  const isOutdated = hasFault && run.of !== "" && run.of !== present();
  by("outdated").hidden = !isOutdated;
  if (isOutdated) showRunFaults([]);
}

/** The changes of controls are not in the text, and hide what the text has for the same keys. */
function showChanges() {
  const changes = settings();
  by("changes").hidden = changes.length === 0;
  by("overridden").hidden = changes.length === 0;
  const list = changes.flatMap((change, index) => [index ? ", " : "", element("code", {}, change)]);
  by("overridden").replaceChildren(element("p", {}, "Changed by controls, in place of what the text has: ", ...list), element("p", {}, ...changeButtons()));
}

/** The buttons that write all changes into the text, and that take them back. */
const changeButtons = () => [
  element("button", { type: "button", onclick: () => writeIntoText().catch(report) }, "Write into the text"),
  element("button", { type: "button", onclick: resetAll }, "Reset all"),
];

/** The network; a wide one scrolls, so that its names can be read. */
function showDrawing(drawing) {
  by("drawing").innerHTML = drawing;
  const svg = by("drawing").querySelector("svg");
  const { width } = svg.viewBox.baseVal;
  svg.style.minWidth = `${Math.round(SMALLEST_DRAWING * width)}px`;
  svg.style.maxWidth = `${width}px`;
}

const isInText = (fault) => fault.line > 0 && fault.source === "scenario";
const isOfChange = (fault) => fault.source === "--set";

/** A fault of the text with its line; a fault of a changed value with a button that takes all changes back. */
function faultItem(fault) {
  const notes = [reasonOf(fault), fault.help ? element("small", {}, fault.help) : null];
  if (isInText(fault)) return element("li", {}, element("button", { type: "button", onclick: () => editor.goTo(fault) }, `Line ${fault.line}: ${fault.message}`), ...notes);
  if (!isOfChange(fault)) return element("li", {}, fault.message, ...notes);
  const back = element("button", { type: "button", id: "take-back", onclick: resetAll }, "Take all changes back");
  return element("li", {}, `${fault.excerpt}: ${fault.message} `, back, ...notes);
}

/** What stands at the place of a fault: the reason why a file cannot be read, for example. */
function reasonOf({ label, message, excerpt, column, length }) {
  if (!label || message.includes(label)) return null;
  const place = excerpt.slice(column - 1, column - 1 + length);
  return element("small", {}, ...(place ? [element("code", {}, place), ": "] : []), label);
}

function resetAll() {
  state.overrides.clear();
  changed();
}

// What the reader changes

function changeSetting(path, text, settled) {
  state.overrides.set(path, text);
  requestRun();
  if (settled) remember(true);
  requestCheck(settled ? 0 : 250);
}

function resetSetting(path) {
  state.overrides.delete(path);
  changed();
}

function changeText(text) {
  state.text = text;
  checking?.abort();
  remember(false);
  clearTimeout(checkTimer);
  checkTimer = setTimeout(async () => { if (await checkNow()) requestRun(); }, 250);
}

/** After a change of more than a value: a new entry of the history, a check and a run. */
function changed() {
  remember(true);
  requestCheck(0);
  requestRun();
}

async function writeIntoText() {
  const text = await api.apply(state.text, settings());
  state.text = text;
  state.overrides.clear();
  editor.text = text;
  changed();
}

// Scenarios and lessons

async function openScenario(origin, step = 0) {
  answer.clear();
  by("notice").textContent = "";
  Object.assign(state, { origin, step, reached: new Set(), overrides: new Map() });
  isAnswered = false;
  await loadLesson();
  state.text = lesson ? lesson.scenario : (known.scenarios.get(origin)?.text ?? "");
  if (lesson) beginStep();
  foldControls();
  showState();
  changed();
}

async function loadLesson() {
  lesson = null;
  if (!state.origin.startsWith(LESSON)) return;
  const name = state.origin.slice(LESSON.length);
  if (!known.lessons.some((one) => one.name === name)) return;
  if (!known.loaded.has(name)) known.loaded.set(name, await api.lesson(name));
  lesson = known.loaded.get(name);
  state.step = Math.min(Math.max(0, state.step), lesson.steps.length - 1);
}

function beginStep() {
  state.overrides = new Map(Object.entries(lesson.steps[state.step].set ?? {}));
}

function goToStep(index) {
  state.step = index;
  isAnswered = false;
  beginStep();
  showLesson();
  changed();
  by("step-title").focus();
}

function showLesson() {
  by("lesson").hidden = !lesson;
  const isAnalysisFirst = lesson?.first === "analysis";
  if (isAnalysisFirst !== (by("worlds").previousElementSibling === by("analysis"))) by(isAnalysisFirst ? "run-faults" : "facts").after(by("analysis"));
  if (!lesson) return by("lesson").replaceChildren();
  const focused = by("lesson").contains(document.activeElement) ? document.activeElement : null;
  controls.forget(by("lesson"));
  lessons.show(by("lesson"), lesson, state, {
    go: goToStep,
    leave: () => { lesson = null; state.origin = ""; showOrigin(); showLesson(); foldControls(); remember(true); },
    control: (wanted) => (typeof wanted === "string" ? controls.copyOf(wanted) : ownChoice(wanted)),
  });
  if (focused?.id) by(focused.id)?.focus({ preventScroll: true });
  else focusOn(by("lesson"), focused?.dataset.path);
  lessons.showResult(by("lesson"), isAnswered);
  return lessons.showWatched(by("lesson"), lesson.steps[state.step], (world, id) => answer.fact(world, id));
}

/** A choice that belongs to the lesson, for a key without control. */
function ownChoice(choice) {
  const row = controls.radios(choice, (value) => changeSetting(choice.path, value, true));
  row.showValue(state.overrides.get(choice.path) ?? choice.value);
  return row.element;
}

/** The present value of a setting: a number without its unit, or a text. */
function setting(path) {
  const text = state.overrides.get(path);
  const slider = controls.sliders.get(path);
  if (text === undefined) return slider && valueOf(slider);
  const number = Number.parseFloat(text);
  return Number.isFinite(number) ? number : text;
}

function judgeStep() {
  if (!lesson || answer.parts.size) return;
  const step = lesson.steps[state.step];
  lessons.showWatched(by("lesson"), step, (world, id) => answer.fact(world, id));
  isAnswered = lessons.reached(step, (world, id) => answer.fact(world, id)?.value, setting);
  lessons.showResult(by("lesson"), isAnswered);
  if (!isAnswered || state.reached.has(state.step)) return;
  state.reached.add(state.step);
  lessons.markReached(by("lesson"), state.step);
  remember(false);
}

function showState() {
  editor.text = state.text;
  showOrigin();
  showLesson();
  showChanges();
}

/** The name in the list; "your own text" for a scenario that this server does not have. */
function showOrigin() {
  by("scenario").value = state.origin;
  if (by("scenario").selectedIndex < 0) by("scenario").value = "";
}

async function restoreState() {
  if (!(await restore(location.hash))) return false;
  isAnswered = false;
  await loadLesson();
  foldControls();
  showState();
  requestCheck(0);
  requestRun();
  return true;
}

// The rest of the page

function selectTab(name) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const selected = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected || (!name && tab.id === "tab-controls") ? 0 : -1;
    by(tab.getAttribute("aria-controls")).hidden = !selected;
  }
}

const PHONE = matchMedia("(max-width: 40rem)");

/** On a phone the results of a lesson follow its own controls; a tab opens the others. */
function foldControls() {
  const isOpen = document.querySelector("[role=tab][aria-selected=true]");
  if (lesson && PHONE.matches) selectTab("");
  else if (!isOpen) selectTab("controls");
}

function addTabs() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener("click", () => {
      const isFolded = PHONE.matches && tab.getAttribute("aria-selected") === "true";
      selectTab(isFolded ? "" : tab.getAttribute("aria-controls"));
    });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      next.focus();
      selectTab(next.getAttribute("aria-controls"));
    });
  }
  by("controls").append(element("div", { id: "sliders" }), element("p", { id: "changes", hidden: true }, ...changeButtons()));
}

/** What an error says to the reader; a fault of the page itself is also written to the console. */
function faultOf(error) {
  if (!(error instanceof api.ServerError)) console.error(error);
  return { message: error.message };
}

const report = (error) => showRunFaults([faultOf(error)]);

function addActions() {
  by("cancel").addEventListener("click", () => { run.waiting = false; run.abort?.abort(); });
  by("scenario").addEventListener("change", () => openScenario(by("scenario").value).catch(report));
  by("copy-link").addEventListener("click", async () => {
    await remember(false);
    await navigator.clipboard.writeText(location.href).then(() => announce("Link copied"), report);
  });
  const name = () => (state.origin.replace(LESSON, "") || "scenario").replace(/\.toml$/, "");
  by("save-scenario").addEventListener("click", () =>
    api.apply(state.text, settings()).then((text) => save(`${name()}.toml`, "application/toml", text)).catch(report));
  by("save-notebook").addEventListener("click", () =>
    api.notebook(state.text, settings()).then((text) => save(`${name()}.ipynb`, "application/x-ipynb+json", text)).catch(report));
  addEventListener("popstate", restoreState);
}

function addTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("millpond-theme");
  const show = () => {
    const isDark = chosen() ? chosen() === "dark" : dark.matches;
    document.documentElement.style.colorScheme = chosen() ?? "";
    by("theme").setAttribute("aria-pressed", isDark);
  };
  by("theme").addEventListener("click", () => {
    const next = by("theme").getAttribute("aria-pressed") === "true" ? "light" : "dark";
    localStorage.setItem("millpond-theme", next);
    show();
  });
  dark.addEventListener("change", show);
  show();
}

function fillList() {
  const lessonOptions = known.lessons.map(({ name, title }) => element("option", { value: LESSON + name }, title));
  const scenarios = [...known.scenarios.values()];
  const titled = ({ name, title }) => element("option", { value: name }, title || name);
  const named = ({ name, title }) => element("option", { value: name }, title && title !== name ? `${name}: ${title}` : name);
  const groups = [
    ["Lessons", lessonOptions],
    ["Scenarios of your folder", scenarios.filter(({ own }) => own).map(named)],
    ["Shipped scenarios", scenarios.filter(({ own }) => !own).map(titled)],
  ];
  by("scenario").replaceChildren(
    element("option", { value: "", hidden: true }, "Your own text"),
    ...groups.filter(([, options]) => options.length).map(([label, options]) => element("optgroup", { label }, ...options)),
  );
}

async function begin() {
  addTheme();
  addTabs();
  addActions();
  if (!api.takeToken()) return report(new api.ServerError("Open the address that `millpond serve` printed: it contains the token of this server."));
  const [catalogue, list] = await Promise.all([api.catalogue(), api.lessons()]);
  known.lessons = list;
  known.scenarios = new Map(catalogue.scenarios.map((scenario) => [scenario.name, scenario]));
  editor.schema = withNames(catalogue.schema, catalogue);
  fillList();
  const isUnreadable = location.hash.length > 1 && !(await restoreState());
  if (isUnreadable || location.hash.length < 2) await openScenario(LESSON + known.lessons[0].name);
  if (isUnreadable) by("notice").textContent = "The state in the address cannot be read. This is the first lesson instead.";
  document.body.dataset.ready = "";
  controls.readings = new Readings(await api.readings());
  controls.showOutcomes();
  return undefined;
}

begin().catch(report);
