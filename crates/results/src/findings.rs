//! Sentences about results that a table of means hides: flows that starve, flows that had data and sent nothing, flows that
//! start long after the others are measured, flows that stopped ECN, and what the viewers of adaptive video saw.

use crate::summary::Silence;
use crate::{Flow, Group, Playback, Summary};
use millpond_units::format::{at_most_decimals, megabits, percent};

/// A flow starves if its goodput is below this share of its fair share.
const STARVING_BELOW: f64 = 0.1;

/// This many silences, and this many groups with starving flows, have a sentence of their own.
pub(crate) const MOST_SENTENCES: usize = 3;

/// A flow that starts later than this share of the measured time has means of another time than the other flows.
const LATE_AFTER: f64 = 0.1;

/// A sentence with the label of its run. Sentences about a protocol begin with its name, which may be the label.
pub fn labelled(label: &str, sentence: &str) -> String {
    let begins_with = |rest: &str| rest.starts_with(' ') || rest.starts_with(": ");
    match sentence.strip_prefix(label).is_some_and(begins_with) {
        true => sentence.to_owned(),
        false => format!("{label}: {sentence}"),
    }
}

impl Flow {
    /// Whether its goodput is below a tenth of its fair share.
    pub fn starves(&self) -> bool {
        self.fair_share_bps.is_some_and(|fair| self.goodput_bps < STARVING_BELOW * fair)
    }
}

/// Sentences about a run: groups with starving flows, silences, flows that start late, groups that stopped ECN, adaptive video, and how late a live
/// run was. Empty if there are none.
pub fn findings(summary: &Summary) -> Vec<String> {
    let live = summary.live_sentences();
    let starving = starvation_sentences(summary).into_iter();
    let without_ecn = ecn_sentences(summary);
    let videos = playback_sentences(summary);
    let starving = starving.chain(silence_sentences(summary)).chain(late_start(summary));
    starving.chain(without_ecn).chain(videos).chain(live).collect()
}

/// A sentence if a flow that is compared with others starts long after `measure.from`: one that has a fair share and runs until
/// the end. The means of a flow begin with its start, those of links and of earlier flows do not.
pub(crate) fn late_start(summary: &Summary) -> Option<String> {
    let (from, end) = (summary.measured_from_s, summary.simulated_s);
    let is_late = |flow: &&Flow| {
        let runs_until_end = flow.completed_s.is_none() && flow.stop_s >= end;
        let wait = flow.start_s - from;
        flow.fair_share_bps.is_some() && runs_until_end && wait > LATE_AFTER * (end - from)
    };
    let last =
        summary.flows.iter().filter(is_late).max_by(|one, other| one.start_s.total_cmp(&other.start_s))?;
    let (name, start) = (&last.name, seconds(last.start_s));
    let count = summary.flows.iter().filter(is_late).count();
    let others = if count == 1 { String::new() } else { format!(", as the last of {count} flows") };
    Some(format!(
        "flow \"{name}\" starts at {start} s, after measure.from = {} s{others}: its means begin there and those of links and earlier \
         flows do not, so that they and Jain's index mix different times; set measure.from to {start} s or later",
        seconds(from),
    ))
}

/// One sentence for each group whose flows stopped ECN.
fn ecn_sentences(summary: &Summary) -> impl Iterator<Item = String> {
    let stopped: Vec<(&str, f64)> =
        summary.flows.iter().filter_map(|flow| Some((flow.group.as_str(), flow.ecn_stopped_s?))).collect();
    summary.groups.iter().filter_map(move |group| {
        let of_group = stopped.iter().filter(|(name, _)| *name == group.name);
        let times: Vec<f64> = of_group.map(|(_, time)| *time).collect();
        let first = at_most_decimals(times.iter().copied().reduce(f64::min)?, 3);
        Some(match group.flows {
            1 => format!("flow \"{}\" stopped ECN at {first} s: its path clears ECN fields", group.name),
            flows => format!(
                "{} of the {flows} flows of \"{}\" stopped ECN, the first one at {first} s: their paths clear ECN fields",
                times.len(),
                group.name
            ),
        })
    })
}

/// One sentence for each group with adaptive video: means over its viewers.
fn playback_sentences(summary: &Summary) -> impl Iterator<Item = String> {
    summary.groups.iter().filter_map(|group| {
        let Playback { bitrate_bps, rebuffering_s, switches, startup_s } = group.playback?;
        let viewers = match group.flows {
            1 => "one viewer".to_owned(),
            count => format!("mean of {count} viewers"),
        };
        Some(format!(
            "video \"{}\", {}: {} Mbit/s, begins after {} s, stands still for {} s, changes its bitrate {} times",
            group.name,
            viewers,
            megabits(bitrate_bps.mean),
            seconds(startup_s.mean),
            seconds(rebuffering_s.mean),
            seconds(switches.mean),
        ))
    })
}

/// One sentence for each of the first groups with starving flows, and one about the others.
fn starvation_sentences(summary: &Summary) -> Vec<String> {
    let starving: Vec<&Group> = summary.groups.iter().filter(|group| group.starving > 0).collect();
    let shown = starving.iter().take(MOST_SENTENCES);
    let mut sentences: Vec<String> = shown.map(|group| starvation(group, summary)).collect();
    let others = starving.get(MOST_SENTENCES..).unwrap_or_default();
    if !others.is_empty() {
        let flows: u64 = others.iter().map(|group| group.starving).sum();
        sentences.push(format!(
            "{flows} flows of {} more groups starve; summary.json has all of them",
            others.len()
        ));
    }
    sentences
}

/// How many flows of a group of a run starve, and how far the mean of their goodputs is from the mean of their fair shares.
pub(crate) fn starvation(group: &Group, summary: &Summary) -> String {
    let starving: Vec<&Flow> =
        summary.flows.iter().filter(|flow| flow.group == group.name && flow.starves()).collect();
    let count = starving.len().max(1) as f64;
    let goodput = starving.iter().map(|flow| flow.goodput_bps).sum::<f64>() / count;
    let fair = starving.iter().filter_map(|flow| flow.fair_share_bps).sum::<f64>() / count;
    let (subject, mean) = match (group.flows, group.starving) {
        (1, _) => (format!("flow \"{}\" starves", group.name), ""),
        (flows, 1) => (format!("1 of the {flows} flows of \"{}\" starves", group.name), ""),
        (flows, n) => (format!("{n} of the {flows} flows of \"{}\" starve", group.name), " on average"),
    };
    let share = if fair > 0.0 { percent(goodput / fair) } else { "0 %".to_owned() };
    format!(
        "{subject}: {} Mbit/s{mean}, {share} of the fair share of {} Mbit/s",
        megabits(goodput),
        megabits(fair)
    )
}

/// One sentence for each of the longest silences of a run, and one about the others. Empty if there are none.
pub fn silence_sentences(summary: &Summary) -> Vec<String> {
    longest_silences(summary, MOST_SENTENCES)
}

/// One sentence for each of the `most` longest silences of a run, and one about the others.
pub(crate) fn longest_silences(summary: &Summary, most: usize) -> Vec<String> {
    let mut sentences: Vec<String> = summary.silences.iter().take(most).map(sentence).collect();
    let others = summary.silences.get(most..).unwrap_or_default();
    let found = match others {
        [] => return sentences,
        [only] => format!("1 more such silence of {} s; summary.json has it", seconds(only.silent_s)),
        [longest, .., shortest] => format!(
            "{} more such silences of {} to {} s; summary.json has all of them",
            others.len(),
            seconds(shortest.silent_s),
            seconds(longest.silent_s)
        ),
    };
    sentences.push(found);
    sentences
}

fn sentence(silence: &Silence) -> String {
    let (from, to, silent) = (seconds(silence.from_s), seconds(silence.to_s), seconds(silence.silent_s));
    let rtts = format!("{:.0} of its base RTTs", silence.base_rtts);
    // The rest of the time its path was down.
    let up = if silence.to_s - silence.from_s > silence.silent_s + ROUNDING_S {
        format!("for {silent} s of that time ({rtts})")
    } else {
        format!("({silent} s, {rtts})")
    };
    format!(
        "flow \"{}\" sent nothing from {from} s to {to} s, although it had data and its path was up {up}",
        silence.flow
    )
}

/// Half of the last digit of [`seconds`].
const ROUNDING_S: f64 = 0.05;

fn seconds(value: f64) -> String {
    at_most_decimals(value, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spread;

    #[test]
    fn a_sentence_that_begins_with_the_label_of_its_run_has_it_once() {
        assert_eq!(labelled("lgcc", "lgcc: no relays"), "lgcc: no relays");
        assert_eq!(labelled("lgcc", "lgcc runs end to end"), "lgcc runs end to end");
        assert_eq!(labelled("lgc", "lgcc runs end to end"), "lgc: lgcc runs end to end");
        assert_eq!(labelled("lgcc", "lgcc:cellular: no relays"), "lgcc: lgcc:cellular: no relays");
        assert_eq!(labelled("lgcc", "flow \"a\" starves"), "lgcc: flow \"a\" starves");
    }

    #[test]
    fn a_group_that_stopped_ecn_has_one_sentence() {
        let flow =
            |group: &str, ecn_stopped_s| Flow { group: group.to_owned(), ecn_stopped_s, ..Flow::default() };
        let group = |name: &str, flows| Group { name: name.to_owned(), flows, ..Group::default() };
        let summary = Summary {
            flows: vec![
                flow("a", Some(0.04212)),
                flow("b", None),
                flow("b", Some(2.5)),
                flow("b", Some(1.0)),
                flow("c", None),
            ],
            groups: vec![group("a", 1), group("b", 3), group("c", 1)],
            ..Summary::default()
        };
        assert_eq!(
            findings(&summary),
            [
                "flow \"a\" stopped ECN at 0.042 s: its path clears ECN fields",
                "2 of the 3 flows of \"b\" stopped ECN, the first one at 1 s: their paths clear ECN fields",
            ]
        );
    }

    fn summary(silences: usize) -> Summary {
        let silence = |n: usize| Silence {
            flow: format!("f.{n}"),
            from_s: 15.21,
            to_s: 27.94 - n as f64,
            silent_s: 12.73 - n as f64,
            base_rtts: 254.6,
        };
        Summary { silences: (0..silences).map(silence).collect(), ..Summary::default() }
    }

    #[test]
    fn a_flow_that_starts_long_after_the_measured_time_begins_has_a_sentence() {
        let flow = |name: &str, start_s| Flow {
            name: name.to_owned(),
            start_s,
            stop_s: 60.0,
            fair_share_bps: Some(1.0),
            goodput_bps: 1.0,
            ..Flow::default()
        };
        let found = |flows: Vec<Flow>| {
            let summary = Summary { flows, measured_from_s: 10.0, simulated_s: 60.0, ..Summary::default() };
            findings(&summary)
        };
        let late = found(vec![flow("a", 0.0), flow("b", 20.0)]);
        assert_eq!(late.len(), 1, "{late:?}");
        assert!(late[0].starts_with("flow \"b\" starts at 20 s, after measure.from = 10 s: "), "{late:?}");
        assert!(late[0].ends_with("set measure.from to 20 s or later"), "{late:?}");
        let several = found(vec![flow("a", 0.0), flow("b", 20.0), flow("c", 40.5)]);
        assert!(
            several[0].starts_with(
                "flow \"c\" starts at 40.5 s, after measure.from = 10 s, as the last of 2 flows: "
            ),
            "{several:?}"
        );
        // Starts within a tenth of the measured time; flows that others are not compared with; flows that end.
        let nothing: Vec<String> = Vec::new();
        assert_eq!(found(vec![flow("a", 0.0), flow("b", 15.0)]), nothing);
        // A tenth of 50 s, not of the end of the run.
        assert_eq!(found(vec![flow("a", 0.0), flow("b", 15.5)]).len(), 1);
        assert_eq!(found(vec![flow("a", 0.0), Flow { fair_share_bps: None, ..flow("ping", 20.0) }]), nothing);
        assert_eq!(
            found(vec![flow("a", 0.0), Flow { completed_s: Some(50.0), ..flow("short", 20.0) }]),
            nothing
        );
        assert_eq!(found(vec![flow("a", 0.0), Flow { stop_s: 40.0, ..flow("on-off", 20.0) }]), nothing);
    }

    #[test]
    fn a_silence_has_a_sentence_with_its_flow_its_times_and_its_base_rtts() {
        assert_eq!(
            silence_sentences(&summary(1)),
            [
                "flow \"f.0\" sent nothing from 15.2 s to 27.9 s, although it had data and its path was up (12.7 s, 255 of its base RTTs)"
            ]
        );
        assert_eq!(silence_sentences(&summary(0)), Vec::<String>::new());
    }

    #[test]
    fn a_silence_that_contains_an_outage_says_how_long_the_path_was_up() {
        let silences =
            vec![Silence { flow: "f".into(), from_s: 1.0, to_s: 6.0, silent_s: 2.0, base_rtts: 67.0 }];
        assert_eq!(
            silence_sentences(&Summary { silences, ..Summary::default() }),
            [
                "flow \"f\" sent nothing from 1 s to 6 s, although it had data and its path was up for 2 s of that time (67 of its base RTTs)"
            ]
        );
    }

    #[test]
    fn of_many_silences_the_longest_have_sentences_and_the_others_one_together() {
        let sentences = silence_sentences(&summary(8));
        assert_eq!(sentences.len(), 4);
        assert_eq!(sentences[3], "5 more such silences of 5.7 to 9.7 s; summary.json has all of them");
        assert_eq!(longest_silences(&summary(2), 1)[1], "1 more such silence of 11.7 s; summary.json has it");
    }

    #[test]
    fn a_group_with_starving_flows_has_a_sentence_with_their_goodput_and_fair_share() {
        let flow = |group: &str, goodput_bps: f64| Flow {
            group: group.into(),
            goodput_bps,
            fair_share_bps: Some(10e6),
            ..Flow::default()
        };
        let flows =
            vec![flow("a", 9e6), flow("a", 0.9e6), flow("b", 0.1e6), flow("b", 0.3e6), flow("c", 1.1e6)];
        let group =
            |name: &str, flows, starving| Group { name: name.into(), flows, starving, ..Group::default() };
        let groups = vec![group("a", 2, 1), group("b", 2, 2), group("c", 1, 0)];
        assert_eq!(
            findings(&Summary { flows, groups, ..Summary::default() }),
            [
                "1 of the 2 flows of \"a\" starves: 0.900 Mbit/s, 9.0 % of the fair share of 10.0 Mbit/s",
                "2 of the 2 flows of \"b\" starve: 0.200 Mbit/s on average, 2.0 % of the fair share of 10.0 Mbit/s",
            ]
        );
    }

    #[test]
    fn adaptive_video_has_a_sentence_with_what_its_viewers_saw() {
        let spread = |mean| Spread { mean, min: mean, max: mean };
        let playback = Playback {
            bitrate_bps: spread(2.35e6),
            rebuffering_s: spread(3.2),
            switches: spread(7.0),
            startup_s: spread(0.6),
        };
        let tv = Group { name: "tv".into(), flows: 2, playback: Some(playback), ..Group::default() };
        let phone = Group { name: "phone".into(), flows: 1, ..tv.clone() };
        let groups = vec![tv, phone, Group::default()];
        assert_eq!(
            findings(&Summary { groups, ..Summary::default() }),
            [
                "video \"tv\", mean of 2 viewers: 2.35 Mbit/s, begins after 0.6 s, stands still for 3.2 s, changes its bitrate 7 times",
                "video \"phone\", one viewer: 2.35 Mbit/s, begins after 0.6 s, stands still for 3.2 s, changes its bitrate 7 times",
            ]
        );
    }

    #[test]
    fn a_flow_without_a_fair_share_or_at_a_tenth_of_it_does_not_starve() {
        let flow = |fair_share_bps| Flow { goodput_bps: 1e6, fair_share_bps, ..Flow::default() };
        assert_eq!([None, Some(1e7), Some(1.01e7)].map(|fair| flow(fair).starves()), [false, false, true]);
    }
}
