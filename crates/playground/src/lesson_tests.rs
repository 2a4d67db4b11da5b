//! Each number in the text of a lesson is compared with runs of the step in which it stands.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers fail as tests do")]

use crate::answer::answer;
use crate::assets;
use crate::job::{Job, Task};
use crate::messages::{Message, PageWorld};
use crate::requests::Edited;
use millpond_protocols::Registry;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Deserialize)]
struct Lesson {
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    title: String,
    text: Vec<String>,
    task: String,
    reached: String,
    #[serde(default)]
    set: BTreeMap<String, String>,
}

impl Step {
    fn texts(&self) -> String {
        let Self { title, text, task, reached, .. } = self;
        [title, task, reached].into_iter().chain(text).map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

fn asset(name: &str) -> String {
    String::from_utf8(assets::asset(name).unwrap().0.to_vec()).unwrap()
}

/// A step with what a reader changes in it.
struct Setting<'a> {
    scenario: &'a str,
    overrides: Vec<String>,
}

impl<'a> Setting<'a> {
    fn of(scenario: &'a str, step: &Step, changes: &[&str]) -> Self {
        let begins = |key: &&String| changes.iter().any(|change| change.starts_with(&format!("{key}=")));
        let set =
            step.set.iter().filter(|(key, _)| !begins(key)).map(|(key, value)| format!("{key}={value}"));
        let overrides = set.chain(changes.iter().map(|change| (*change).to_owned())).collect();
        Self { scenario, overrides }
    }

    /// A fact as the page shows it.
    fn fact(&self, task: Task, id: &str) -> f64 {
        let edited = Edited { text: self.scenario.to_owned(), overrides: self.overrides.clone() };
        let job = Job { task, edited, folder: std::env::temp_dir(), width: 200 };
        let mut output = Vec::new();
        answer(&job, &Registry::builtin(), Duration::MAX, &mut output).unwrap();
        let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let facts = lines.filter_map(|line| match serde_json::from_slice(line).unwrap() {
            Message::Figures { facts, until: None, .. } | Message::Analysis { facts, .. } => Some(facts),
            _ => None,
        });
        let found = facts.flatten().find(|fact| fact.id == id);
        found.unwrap_or_else(|| panic!("no {id} with {:?}", self.overrides)).value
    }
}

const PACKETS: Task = Task::Run(PageWorld::Packets);
const FLUID: Task = Task::Run(PageWorld::Fluid);
const ANALYSIS: Task = Task::Analysis;

/// What a phrase claims of a fact.
enum Is {
    /// It is this number, as far as it is written.
    About(f64, f64),
    Below(f64),
    Above(f64),
}
use Is::{About, Above, Below};

impl Is {
    fn holds(&self, value: f64) -> bool {
        match *self {
            About(expected, within) => (value - expected).abs() <= within,
            Below(bound) => value < bound,
            Above(bound) => value > bound,
        }
    }
}

/// A phrase with numbers, and the facts that it claims: changes of the reader, world, fact and value.
struct Claim {
    /// Lesson and step.
    step: (&'static str, usize),
    phrase: &'static str,
    facts: &'static [(&'static [&'static str], Task, &'static str, Is)],
}

const OSCILLATES: &str = "why-a-delay-oscillates";
const FLOOR: &str = "why-marks-need-a-noise-floor";
const RELAY: &str = "what-a-relay-changes";
const FAIR: &str = "max-min-or-proportional";
const PHASE: &str = "phase-effects";

const AT_R: &str = "protocols.lgcc.relays=[\"R\"]";
const RED: &str = "links.L.queue={ red = { min_th = \"5KB\", max_th = \"15KB\" } }";
const PROPORTIONAL: [&str; 4] = [
    "flows.long.protocol=paganini-ecn",
    "flows.first.protocol=paganini-ecn",
    "flows.second.protocol=paganini-ecn",
    "flows.third.protocol=paganini-ecn",
];
const NEWRENO: &[&str] = &[
    "flows.long.protocol=newreno",
    "flows.first.protocol=newreno",
    "flows.second.protocol=newreno",
    "flows.third.protocol=newreno",
];

const CLAIMS: &[Claim] = &[
    Claim {
        step: (OSCILLATES, 1),
        phrase: "36.87° less 57.3° for each second of the round trip",
        facts: &[
            (&["links.far.delay=50ms"], ANALYSIS, "margin.phase", About(36.87 - 5.73, 0.01)),
            (&["links.far.delay=250ms"], ANALYSIS, "margin.phase", About(36.87 - 28.65, 0.01)),
        ],
    },
    Claim {
        step: (OSCILLATES, 2),
        phrase: "a round trip of 0.6435 s",
        facts: &[
            (&["links.far.delay=321.7ms"], ANALYSIS, "root.growth", Below(0.0)),
            (&["links.far.delay=321.8ms"], ANALYSIS, "root.growth", Above(0.0)),
        ],
    },
    Claim {
        step: (OSCILLATES, 2),
        phrase: "a period of more than 6 s",
        facts: &[
            (&["links.far.delay=322ms"], ANALYSIS, "root.frequency", Below(1.047)),
            (&["links.far.delay=400ms"], ANALYSIS, "root.frequency", Below(1.047)),
        ],
    },
    Claim {
        step: (OSCILLATES, 3),
        phrase: "more than 20 Mbit/s",
        facts: &[
            (&[], ANALYSIS, "root.growth", About(0.0803, 0.0001)),
            (&["links.near.rate=26Mbps"], ANALYSIS, "root.growth", About(0.0803, 0.0001)),
        ],
    },
    Claim {
        step: (FLOOR, 1),
        phrase: "from 96.3 % to",
        facts: &[(&[], PACKETS, "utilization", About(96.3, 0.05))],
    },
    Claim {
        step: (FLOOR, 1),
        phrase: "it costs 3 % at every hop",
        facts: &[
            (&["links.L.queue.red.min_th=3KB"], PACKETS, "utilization", About(96.3 + 3.0, 0.5)),
            (&["links.L.queue.red.min_th=60KB"], PACKETS, "utilization", About(96.3 + 3.0, 0.5)),
        ],
    },
    Claim {
        step: (FLOOR, 2),
        phrase: "used to 86 % or less",
        facts: &[
            (&["links.L.queue.red.max_th=15KB"], PACKETS, "utilization", Below(86.0)),
            (&["links.L.queue.red.max_th=12KB"], PACKETS, "utilization", Below(86.0)),
        ],
    },
    Claim {
        step: (FLOOR, 3),
        phrase: "about 30 packets long, whether the floor is 1 byte or 30 KB",
        facts: &[
            (&["links.L.queue.red.min_th=0.001KB"], PACKETS, "queue.mean", About(30.0, 1.0)),
            (&["links.L.queue.red.min_th=30KB"], PACKETS, "queue.mean", About(30.0, 1.0)),
            (&["links.L.queue.red.min_th=30KB"], FLUID, "queue.mean", About(30.0, 1.0)),
        ],
    },
    Claim {
        step: (FLOOR, 3),
        phrase: "from 8.6 ms to",
        facts: &[(&[], PACKETS, "delay.mean", About(8.6, 0.05))],
    },
    Claim {
        step: (RELAY, 1),
        phrase: "falls from 149 packets to",
        facts: &[
            (&[], PACKETS, "queue.max", About(149.0, 0.0)),
            (&[AT_R], PACKETS, "queue.max", Below(60.0)),
        ],
    },
    Claim {
        step: (RELAY, 1),
        phrase: "the equations, which begin far from their equilibrium with empty queues, end in a limit cycle",
        facts: &[
            (&[AT_R], ANALYSIS, "root.growth", Below(0.0)),
            (&[AT_R, "duration=200s", "measure.from=180s"], FLUID, "utilization", Below(90.0)),
        ],
    },
    Claim {
        step: (RELAY, 2),
        phrase: "falls from 96.6 ms to",
        facts: &[(&[], PACKETS, "delay.mean", About(96.6, 0.05))],
    },
    Claim {
        step: (RELAY, 2),
        phrase: "to 40 ms or less",
        facts: &[(&["links.far.delay=40ms"], PACKETS, "delay.mean", Below(60.0))],
    },
    Claim {
        step: (RELAY, 3),
        phrase: "With a delay of 120 ms or more",
        facts: &[
            (&["links.far.delay=120ms"], ANALYSIS, "root.growth", Above(0.0)),
            // A period of ten seconds.
            (&["links.far.delay=120ms"], ANALYSIS, "root.frequency", Below(0.628)),
            (&["links.far.delay=190ms"], ANALYSIS, "root.frequency", Below(0.628)),
        ],
    },
    Claim {
        step: (FAIR, 2),
        phrase: "9.5 and 28.5 Mbit/s: exactly 1/4 and 3/4 of 38 Mbit/s",
        facts: &[
            (&PROPORTIONAL, FLUID, "goodput.long", About(9.5, 0.001)),
            (&PROPORTIONAL, FLUID, "goodput.first", About(28.5, 0.001)),
            (&PROPORTIONAL, PACKETS, "goodput.long", About(9.5, 0.19)),
            (&PROPORTIONAL, PACKETS, "goodput.first", About(28.5, 0.57)),
        ],
    },
    Claim {
        step: (FAIR, 3),
        phrase: "All four rates are 19 Mbit/s in the equations. With a weight of 2 the shares are 2/5 and 3/5",
        facts: &[
            (&["flows.long.weight=3"], FLUID, "goodput.long", About(19.0, 0.01)),
            (&["flows.long.weight=3"], FLUID, "goodput.third", About(19.0, 0.01)),
            (&["flows.long.weight=2"], FLUID, "goodput.long", About(38.0 * 0.4, 0.01)),
            (&["flows.long.weight=2"], FLUID, "goodput.first", About(38.0 * 0.6, 0.01)),
        ],
    },
    Claim {
        step: (FAIR, 4),
        phrase: "less than 4 of 40 Mbit/s in packets and less than 6 in the equations",
        facts: &[
            (NEWRENO, PACKETS, "goodput.long", Below(4.0)),
            (NEWRENO, FLUID, "goodput.long", Below(6.0)),
        ],
    },
    Claim {
        step: (PHASE, 1),
        phrase: "0.408 and 0.392 Mbit/s",
        facts: &[
            (&[], FLUID, "goodput.one", About(0.408, 0.0005)),
            (&[], FLUID, "goodput.two", About(0.392, 0.0005)),
        ],
    },
    Claim {
        step: (PHASE, 1),
        phrase: "were 0.123 and 0.677 Mbit/s",
        facts: &[
            (&[], PACKETS, "goodput.one", About(0.123, 0.0005)),
            (&[], PACKETS, "goodput.two", About(0.677, 0.0005)),
            // "Close to the equations".
            (&["flows.two.rtt=109ms"], PACKETS, "goodput.one", About(0.408, 0.02)),
            (&["flows.two.rtt=113ms"], PACKETS, "goodput.one", About(0.408, 0.02)),
        ],
    },
    Claim {
        step: (PHASE, 2),
        phrase: "more than twice its former share",
        facts: &[(&["hosts.jitter=10ms"], PACKETS, "goodput.one", Above(2.0 * 0.123))],
    },
    Claim {
        step: (PHASE, 3),
        phrase: "between 105 ms and 120 ms neither flow falls below 0.3 Mbit/s",
        facts: &[
            (&["flows.two.rtt=105ms", RED], PACKETS, "goodput.one", About(0.4, 0.1)),
            (&["flows.two.rtt=107ms", RED], PACKETS, "goodput.one", About(0.4, 0.1)),
            (&["flows.two.rtt=109ms", RED], PACKETS, "goodput.one", About(0.4, 0.1)),
            (&["flows.two.rtt=110ms", RED], PACKETS, "goodput.one", About(0.4, 0.1)),
            (&["flows.two.rtt=112ms", RED], PACKETS, "goodput.two", About(0.4, 0.1)),
            (&["flows.two.rtt=115ms", RED], PACKETS, "goodput.two", About(0.4, 0.1)),
            (&["flows.two.rtt=120ms", RED], PACKETS, "goodput.one", About(0.4, 0.1)),
        ],
    },
];

/// Phrases whose numbers are no results: settings of the scenario, what the reader is to do, definitions and references.
const GIVEN: &[(&str, usize, &[&str])] = &[
    (OSCILLATES, 1, &["the point −1", "the gain crossover of 1 rad/s", "falls below 20°"]),
    (OSCILLATES, 2, &["passes through −1", "Theorem 1", "beyond 0.6435 s"]),
    (OSCILLATES, 4, &["0.45 divided by the round trip"]),
    (FLOOR, 1, &["a probability of 2 %", "two packets (3 KB)", "a threshold of 1 without a unit"]),
    (FLOOR, 2, &["15 KB or less"]),
    (FLOOR, 3, &["60 KB or more"]),
    (RELAY, 1, &["a round trip of 200 ms", "200 ms late", "a round trip of 20 ms"]),
    (RELAY, 2, &["180 ms late"]),
    (FAIR, 1, &["L1", "L2", "L3", "20 Mbit/s"]),
    (FAIR, 2, &["leaves 5 % of each link unused"]),
    (FAIR, 3, &["w / (w + 3)", "A weight of 3", "a weight of 3"]),
    (FAIR, 4, &["the 10 Mbit/s of proportional fairness"]),
    (PHASE, 1, &["100 ms and 110 ms", "exactly 10 ms", "1992"]),
];

/// The names of all lessons.
fn names() -> Vec<String> {
    #[derive(Deserialize)]
    struct Listed {
        name: String,
    }
    let listed: Vec<Listed> = serde_json::from_str(&asset("lessons/contents.json")).unwrap();
    listed.into_iter().map(|lesson| lesson.name).collect()
}

fn lesson(name: &str) -> (String, Lesson) {
    let read = |extension: &str| asset(&format!("lessons/{name}.{extension}"));
    (read("toml"), serde_json::from_str(&read("json")).unwrap())
}

/// The text without `{packets queue.max}`, which the page replaces by the value of the last run.
fn without_measured(text: &str) -> String {
    let mut pieces = text.split('{');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |read, piece| read + piece.split_once('}').map_or("", |(_, rest)| rest))
}

#[test]
fn every_number_in_a_text_is_measured_claimed_or_given() {
    for name in names() {
        for (index, step) in lesson(&name).1.steps.iter().enumerate() {
            let at = (name.as_str(), index + 1);
            let claimed = CLAIMS.iter().filter(|claim| claim.step == at).map(|claim| claim.phrase);
            let given = GIVEN.iter().filter(|given| (given.0, given.1) == at).flat_map(|given| given.2);
            let mut rest = without_measured(&step.texts());
            for phrase in claimed.chain(given.copied()) {
                assert!(rest.contains(phrase), "{at:?}: no \"{phrase}\" in {rest}");
                rest = rest.replace(phrase, "");
            }
            assert!(!rest.contains(|letter: char| letter.is_ascii_digit()), "{at:?}: {rest}");
        }
    }
}

#[test]
fn every_claim_of_a_text_holds_in_the_runs_of_its_step() {
    for claim in CLAIMS {
        let (name, step) = claim.step;
        let (scenario, lesson) = lesson(name);
        for (changes, task, id, is) in claim.facts {
            let value = Setting::of(&scenario, &lesson.steps[step - 1], changes).fact(*task, id);
            assert!(
                is.holds(value),
                "{name}, step {step}, {changes:?}: \"{}\", but {id} is {value}",
                claim.phrase
            );
        }
    }
}

/// A value of the last run that the page does not have would be shown as a dash.
#[test]
fn the_measured_values_in_texts_are_facts_of_the_page() {
    for name in names() {
        let (scenario, lesson) = lesson(&name);
        for step in &lesson.steps {
            for piece in step.reached.split('{').skip(1) {
                let (world, id) = piece.split_once('}').unwrap().0.split_once(' ').unwrap();
                let task = match world {
                    "packets" => PACKETS,
                    "fluid" => FLUID,
                    _ => ANALYSIS,
                };
                // The margins are facts of a stable loop.
                let changes: &[&str] =
                    if task == ANALYSIS { &["protocols.cltcp.params.scaling=\"rtt\""] } else { &[] };
                assert!(Setting::of(&scenario, step, changes).fact(task, id).is_finite(), "{name}: {piece}");
            }
        }
    }
}
