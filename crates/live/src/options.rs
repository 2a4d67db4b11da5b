//! The options of `millpond link` as the links of a scenario, so that keys, units, queues and errors are those of scenarios.

use millpond_plan::packets;
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, OptionValue, Scenario};
use millpond_sim::LinkSpec;
use millpond_units::Rate;
use std::path::Path;

/// A link without limits between the command and the outside: its rate is the highest that a link may have. The flows are
/// those for which the buffer in bandwidth-delay products and the laws of the queues are computed: full packets in both
/// directions.
const LINK: &str = r#"
title = "millpond link"
duration = "1h"
hosts = { jitter = "0s" }
links = [{ name = "link", between = ["outside", "command"], rate = "100Tbps", buffer = "100ms", queue = "droptail" }]
flows = [
    { name = "down", protocol = "newreno", path = ["outside", "command"] },
    { name = "up", protocol = "newreno", path = ["command", "outside"] },
]
"#;

/// What stands before the keys of the link in [`LINK`].
const PATH: &str = "links.link.";

/// What the plan calls the two directions of the link, and what messages of this command call them.
const DIRECTIONS: [(&str, &str); 2] = [("link ->", "to the command"), ("link <-", "from the command")];

/// Faults of the plan as the user typed the options: the help names keys without the path of the link, the message names
/// the direction, and no fault shows the text [`LINK`], which the user did not write.
fn of_options(scenario: &Scenario, faults: Faults) -> Faults {
    let of_option = |fault: Fault| {
        let shows_the_text = fault.place().is_some_and(|(_, text, _)| text == scenario.sources.text(0));
        let message = DIRECTIONS
            .iter()
            .fold(fault.message().to_owned(), |text, (planned, shown)| text.replace(planned, shown));
        let help = fault.help_text().replace(PATH, "");
        let fault = if shows_the_text { scenario.sources.plain(message) } else { fault };
        if help.is_empty() { fault } else { fault.help(help) }
    };
    Faults(faults.0.into_iter().map(of_option).collect())
}

/// The same with a rate of its own for the direction from the command, which otherwise has that of the other one.
fn asymmetric() -> String {
    LINK.replace("buffer =", "back = { rate = \"100Tbps\" }, buffer =")
}

/// The options that describe the link, as they were typed.
#[derive(Clone, Debug, Default)]
pub struct LinkOptions {
    /// The rate of both directions.
    pub rate: Option<String>,
    /// The rate to the command, or the file of a trace.
    pub down: Option<String>,
    /// The rate from the command, or the file of a trace.
    pub up: Option<String>,
    /// Propagation delay of each direction.
    pub delay: Option<String>,
    /// Random delay added to each packet.
    pub jitter: Option<String>,
    /// Random loss in each direction.
    pub loss: Option<String>,
    /// The buffer of each direction.
    pub buffer: Option<String>,
    /// The queue of each direction.
    pub queue: Option<String>,
    /// Further keys of the link, `key=value`.
    pub sets: Vec<String>,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl LinkOptions {
    /// The direction to the command, and that from the command.
    ///
    /// # Errors
    /// Everything that is wrong with the options, with the name of the option.
    pub fn directions(&self, registry: &Registry) -> Result<[LinkSpec; 2], Faults> {
        let is_asymmetric = self.down.is_some() || self.up.is_some();
        let link = if is_asymmetric { asymmetric() } else { LINK.to_owned() };
        let mut scenario = Scenario::from_options(&link, &self.values())?;
        scenario.seed = self.seed;
        let links = packets::links(&scenario, registry).map_err(|faults| of_options(&scenario, faults))?;
        <[LinkSpec; 2]>::try_from(links)
            .map_err(|_| Faults::from(scenario.sources.plain("a link has two directions")))
    }

    /// The options as values of keys of the scenario.
    fn values(&self) -> Vec<OptionValue> {
        let value = |option: &str, key: &str, value: &str| OptionValue {
            option: option.to_owned(),
            key: format!("{PATH}{key}"),
            value: value.to_owned(),
        };
        let mut values = Vec::new();
        values.extend(self.rate.as_ref().map(|rate| value("--rate", "rate", rate)));
        for (option, key, typed) in [("--down", "rate", &self.down), ("--up", "back.rate", &self.up)] {
            let Some(typed) = typed else { continue };
            let key = if is_rate(typed) { key.to_owned() } else { format!("{key}.trace.file") };
            values.push(value(option, &key, typed));
        }
        let both = [
            ("--delay", "delay", &self.delay),
            ("--jitter", "jitter", &self.jitter),
            ("--loss", "loss", &self.loss),
            ("--buffer", "buffer", &self.buffer),
            ("--queue", "queue", &self.queue),
        ];
        values.extend(
            both.into_iter().filter_map(|(option, key, typed)| Some(value(option, key, typed.as_ref()?))),
        );
        values.extend(self.sets.iter().map(|set| match set.split_once('=') {
            Some((key, typed)) => value(&format!("--set {key}"), key.trim(), typed),
            None => value(&format!("--set {set}"), set, ""),
        }));
        values
    }
}

/// True if this is a rate and not the file of a trace: also a number with a wrong unit or none, unless it is the name of a
/// file.
fn is_rate(typed: &str) -> bool {
    let unit = typed.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_quantity = unit.len() < typed.len() && unit.chars().all(|c| c.is_ascii_alphabetic() || c == '/');
    typed.parse::<Rate>().is_ok() || is_quantity && !Path::new(typed).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_plan_names_keys_as_options_have_them() {
        let queue = Some("fq-codel".to_owned());
        let options = LinkOptions { queue, sets: vec!["scheduler=drr".to_owned()], ..LinkOptions::default() };
        let faults = options.directions(&Registry::builtin()).unwrap_err();
        assert_eq!(faults.0[0].help_text(), "set scheduler to \"fifo\"");
    }

    #[test]
    fn a_fault_of_the_plan_shows_nothing_that_the_user_did_not_type() {
        let options = LinkOptions { buffer: Some("100B".to_owned()), ..LinkOptions::default() };
        let faults = options.directions(&Registry::builtin()).unwrap_err();
        let fault = &faults.0[0];
        let expected =
            "to the command: its buffer has no room for a packet of 1.5KB, so that all of them are dropped";
        assert_eq!((fault.message(), fault.place()), (expected, None));
        assert_eq!(fault.help_text(), "set buffer to \"1.5KB\" or more, or to a number of packets");
    }
}
