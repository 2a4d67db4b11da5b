//! The theory of a scenario: the steady state in a sentence, roots and margins, the response to a step of the capacity.

use crate::faults::{self, PlacedFault};
use crate::job::Job;
use crate::messages::{Fact, Message, PageFigure};
use millpond_analysis_report::{StabilityPage, stability_figures, step_figure};
use millpond_fluid::Entity;
use millpond_plan::fluid::{self, FluidLinkPlan, FluidPlan};
use millpond_protocols::Registry;
use millpond_report::MOST_CURVES;
use millpond_results::Unwatched;
use millpond_theory::classification::{SteadyStateAnalysis, analyze_steady_state};
use millpond_theory::equilibrium::PlanEquilibrium;
use millpond_theory::stability::{Stability, stability_sentence};
use millpond_theory::steady_state::{FixedPoint, SteadyState, steady_state_sentence};
use millpond_theory::transients::{StepChange, StepTransient, seconds, simulate_steps};
use millpond_theory::{AnalysisError, AnalyzedCapacity, Study, with_constant_capacities};

/// The analysis of the scenario of a job.
///
/// # Errors
/// What is wrong with the scenario, or why it has no equilibrium.
pub(crate) fn analyse(job: &Job, registry: &Registry) -> Result<Message, Vec<PlacedFault>> {
    let written = job.scenario(registry)?;
    let held = with_constant_capacities(&written, AnalyzedCapacity::mean_of_run(&written));
    let plan = fluid::plan_steady_state(&held.scenario, registry).map_err(|found| faults::placed(&found))?;
    let mut analysis = analyze_steady_state(&plan).map_err(placed)?;
    let stability = analysis.stability().map_err(placed)?;
    let SteadyStateAnalysis { state, equilibrium, .. } = &analysis;
    let (Some(stability), Some(equilibrium)) = (stability, equilibrium) else {
        let sentence = format!("The network has {}.", steady_state_sentence(state));
        return Ok(Message::Analysis { sentence, figures: Vec::new(), facts: Vec::new() });
    };
    let steps = response(Study::new(&held.scenario, registry), equilibrium, &stability);
    let mut sentence = stability_sentence(&stability, &[]);
    sentence.push_str(&oscillation_clause(&stability, &steps).unwrap_or_default());
    for capacity in &held.named {
        sentence.push_str(&format!("; {capacity}"));
    }
    let figures = figures(&stability, steps.first(), equilibrium.plan);
    Ok(Message::Analysis { sentence, figures, facts: facts(&stability) })
}

/// Roots tell what becomes of small disturbances: the clause for a network whose roots decay, but whose response to the step
/// goes on oscillating.
fn oscillation_clause(stability: &Stability, steps: &[StepTransient]) -> Option<String> {
    let oscillating = steps.iter().find(|step| step.keeps_oscillating())?;
    let end = oscillating.times.last().copied();
    let clause = || {
        format!(
            "; that is about small disturbances: the response to the step does not decay in {}",
            seconds(end)
        )
    };
    matches!(stability.steady_state(), SteadyState::FixedPoint(FixedPoint::Stable)).then(clause)
}

fn placed(error: AnalysisError) -> Vec<PlacedFault> {
    match error {
        AnalysisError::Scenario(found) => faults::placed(&found),
        other => vec![PlacedFault::plain(other.to_string())],
    }
}

/// The response to a fall of the first bottleneck's capacity to 90 %; none if the equations cannot be integrated from there.
fn response(
    study: Study<'_>,
    equilibrium: &PlanEquilibrium<'_>,
    stability: &Stability,
) -> Vec<StepTransient> {
    // Links that data do not cross are in the plan and not in the equations.
    let is_first =
        |link: &&FluidLinkPlan| link.id.is_some_and(|id| stability.bottlenecks.first() == Some(&id.0));
    let link = equilibrium.plan.links.iter().find(is_first);
    let step = link
        .and_then(|link| StepChange::parse(&format!("{}=90%", link.name), study.scenario, equilibrium).ok());
    let seconds = response_time(study.scenario.duration.secs(), stability);
    let simulated = step.map(|step| simulate_steps(&[step], study, equilibrium, seconds, &Unwatched));
    simulated.and_then(Result::ok).unwrap_or_default()
}

/// The time of a response that decays, or grows, too slowly to be seen as a whole: that of the runs beside it, in seconds.
/// None if the response needs less.
fn response_time(duration: f64, stability: &Stability) -> Option<f64> {
    let is_slow = |growth: f64| growth.abs() * duration < 1.0;
    stability.spectrum.first_nonzero().is_some_and(|root| is_slow(root.s.re)).then_some(duration)
}

/// Nyquist loci, roots and step response.
fn figures(stability: &Stability, step: Option<&StepTransient>, plan: &FluidPlan) -> Vec<PageFigure> {
    let page = StabilityPage {
        title: "",
        sentences: &[],
        origin: None,
        stability,
        run: None,
        map: None,
        portrait: None,
        steps: &[],
        convergence: None,
    };
    let shown = |figure: &millpond_report::Figure| match figure.id.as_str() {
        "nyquist-loci" => Some(PageFigure::new(
            "nyquist",
            "Nyquist locus",
            "The return ratio along the imaginary axis, with the stability margins at the point -1.",
            figure,
        )),
        "roots" => Some(PageFigure::new(
            "roots",
            "Characteristic roots",
            "Disturbances decay if all roots are to the left of zero.",
            figure,
        )),
        // The Bode plot has the margins of the locus.
        _ => None,
    };
    let response = |step: &StepTransient| {
        PageFigure::new(
            "response",
            "Response to a step",
            "Sending rate and queue after the capacity of the bottleneck falls to 90 %.",
            &step_figure(step, &rate_tones(step, plan)),
        )
    };
    stability_figures(&page).iter().filter_map(shown).chain(step.map(response)).collect()
}

/// For each rate of a step the index of its tone: that of the goodput of its first flow in the figure of a run, or of its group
/// where that figure has groups. Further loops of a flow have the tones after those of all flows.
fn rate_tones(step: &StepTransient, plan: &FluidPlan) -> Vec<usize> {
    let mut groups: Vec<&str> = plan.flows.iter().map(|flow| flow.group.as_str()).collect();
    groups.dedup();
    let has_flows = plan.flows.len() <= MOST_CURVES;
    let drawn = if has_flows { plan.flows.len() } else { groups.len() };
    let mut further = drawn..;
    let mut tone = |entity: Entity| {
        let Entity::Loop(id) = entity else { return None };
        let first = plan.flows.iter().position(|flow| flow.loops.first().is_some_and(|first| first.0 == id));
        let group = |flow: usize| groups.iter().position(|group| *group == plan.flows[flow].group);
        first.and_then(|flow| if has_flows { Some(flow) } else { group(flow) }).or_else(|| further.next())
    };
    step.rates.iter().map(|rate| tone(rate.observable.entity).unwrap_or(0) % MOST_CURVES).collect()
}

/// The margins and the rightmost root.
fn facts(stability: &Stability) -> Vec<Fact> {
    let margins = &stability.margins;
    let decays = stability.disturbances_decay();
    let mut facts = Vec::new();
    if let Some(root) = stability.spectrum.first_nonzero() {
        let which = match stability.spectrum.roots.iter().any(|root| stability.spectrum.is_zero(root)) {
            true => "the rightmost root other than zero",
            false => "the rightmost root",
        };
        facts.push(Fact::new("root.growth", &format!("growth of {which}"), root.s.re, "1/s"));
        facts.push(Fact::new("root.frequency", &format!("frequency of {which}"), root.s.im, "rad/s"));
    }
    if let Some(gain) = margins.gain.filter(|_| decays) {
        facts.push(Fact::new("margin.gain", "gain margin, as a factor", gain.margin, ""));
    }
    if let Some(phase) = margins.phase.filter(|_| decays) {
        facts.push(Fact::new("margin.phase", "phase margin", phase.margin.to_degrees(), "°"));
    }
    if let Some(delay) = margins.delay.filter(|_| decays) {
        facts.push(Fact::new("margin.delay", "delay margin", 1e3 * delay.margin, "ms"));
    }
    if let Some(factor) = stability.stabilizing_gain {
        facts.push(Fact::new(
            "stabilizing.gain",
            "factor by which the gain of all loops must fall",
            factor,
            "",
        ));
    }
    if let Some(factor) = stability.stabilizing_delay {
        facts.push(Fact::new("stabilizing.delay", "factor by which all delays must fall", factor, ""));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Task;
    use crate::requests::Edited;

    /// Figures and facts of a text with changes.
    fn analysed(text: &str, overrides: &[&str]) -> (Vec<PageFigure>, Vec<Fact>) {
        let overrides = overrides.iter().map(|one| (*one).to_owned()).collect();
        let edited = Edited { text: text.to_owned(), overrides };
        let job = Job { task: Task::Analysis, edited, folder: std::env::temp_dir(), width: 300 };
        let Message::Analysis { figures, facts, .. } = analyse(&job, &Registry::builtin()).unwrap() else {
            panic!()
        };
        (figures, facts)
    }

    fn html(figures: &[PageFigure], id: &str) -> String {
        figures.iter().find(|figure| figure.id == id).unwrap().html.clone()
    }

    /// The response in the lesson on relays, with changes.
    fn response(overrides: &[&str]) -> String {
        html(&analysed(include_str!("../assets/lessons/what-a-relay-changes.toml"), overrides).0, "response")
    }

    /// Vegas has a continuum of equilibria, and the lesson on delays ends with an oscillation.
    #[test]
    fn a_root_at_zero_is_no_encirclement_and_the_growth_beside_it_is_that_of_another_root() {
        let lesson = include_str!("../assets/lessons/why-a-delay-oscillates.toml");
        let vegas = ["flows.f.protocol=vegas", "links.far.delay=10ms"];
        let (figures, facts) = analysed(lesson, &vegas);
        let nyquist = html(&figures, "nyquist");
        assert!(
            nyquist.contains("The loci do not encircle -1: the root at zero is no instability of the loop.")
        );
        assert!(nyquist.contains("gain margin") && !nyquist.contains("unstable"));
        assert_eq!(facts[0].label, "growth of the rightmost root other than zero");
        assert!(facts[0].value < 0.0);
        let (figures, facts) = analysed(lesson, &["links.far.delay=400ms"]);
        assert!(html(&figures, "nyquist").contains("The loci encircle -1: unstable."));
        assert_eq!(facts[0].label, "growth of the rightmost root");
    }

    /// The roots of both networks decay. The response of the first one ends in a limit cycle, that of the second settles.
    #[test]
    fn a_response_that_keeps_oscillating_is_named_beside_roots_that_decay() {
        let sentence = |text: &str, overrides: &[&str]| {
            let overrides = overrides.iter().map(|one| (*one).to_owned()).collect();
            let edited = Edited { text: text.to_owned(), overrides };
            let job = Job { task: Task::Analysis, edited, folder: std::env::temp_dir(), width: 300 };
            let Message::Analysis { sentence, .. } = analyse(&job, &Registry::builtin()).unwrap() else {
                panic!()
            };
            sentence
        };
        let relay = include_str!("../assets/lessons/what-a-relay-changes.toml");
        let with_relay = sentence(relay, &["protocols.lgcc.relays=[\"R\"]"]);
        assert!(
            with_relay.starts_with("stable; that is about small disturbances: the response"),
            "{with_relay}"
        );
        let delay = include_str!("../assets/lessons/why-a-delay-oscillates.toml");
        assert_eq!(sentence(delay, &["links.far.delay=10ms"]), "stable");
        assert_eq!(sentence(delay, &["links.far.delay=290ms"]), "stable");
    }

    /// The first link in the file has a thousand megabit per second, of which the flows use 40.
    #[test]
    fn the_step_is_one_of_the_bottleneck() {
        assert!(response(&[]).contains("<h3>near from 40 Mbit/s to 36 Mbit/s</h3>"));
    }

    /// The tone of the curve of this name: `f2`.
    fn tone<'a>(figure: &'a str, name: &str) -> &'a str {
        let path =
            figure.split("<path").find(|path| path.contains(&format!("data-name=\"{name}\""))).unwrap();
        let (_, class) = path.split_once("class=\"").unwrap();
        class.split('"').next().unwrap().rsplit(' ').next().unwrap()
    }

    /// In the figure of a run the flows, or groups from 13 flows on, have the tones f0, f1, ... in the order of the scenario.
    #[test]
    fn a_rate_has_the_tone_of_its_flow_in_the_figures_of_runs() {
        let lesson = include_str!("../assets/lessons/max-min-or-proportional.toml");
        let tones = |overrides: &[&str]| {
            let response = html(&analysed(lesson, overrides).0, "response");
            ["long", "first", "second", "third"]
                .map(|flow| tone(&response, &format!("{flow}.rate")).to_owned())
        };
        assert_eq!(tones(&[]), ["f0", "f1", "f2", "f3"]);
        assert_eq!(tones(&["flows.first.count=3"]), ["f0", "f1", "f4", "f5"]);
        assert_eq!(tones(&["flows.first.count=10"]), ["f0", "f1", "f2", "f3"]);
        let relay = response(&["protocols.lgcc.relays=[\"R\"]"]);
        assert_eq!(
            ["f/loop1.rate", "f/loop2.rate", "near.queue"].map(|name| tone(&relay, name)),
            ["f0", "f5", "f0"]
        );
    }

    /// The rightmost root grows by 0.018 per second, and the runs take 40 s.
    #[test]
    fn a_response_that_grows_slowly_takes_the_time_of_the_runs() {
        let slow = response(&["protocols.lgcc.relays=[\"R\"]", "links.far.delay=190ms"]);
        assert!(slow.contains("data-x=\"linear 0 40\""), "{}", slow.chars().take(2000).collect::<String>());
    }
}
