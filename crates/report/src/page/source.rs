//! How to get a run again: its command and its scenario.

use super::subject::Subject;
use crate::chart::markup::Text;

/// The command in sight, once for all runs that it made; their scenarios behind folds.
pub(super) fn sources(subjects: &[Subject]) -> String {
    subjects.chunk_by(|one, next| one.run.command == next.run.command).map(source).collect()
}

fn source(made: &[Subject]) -> String {
    let name = |subject: &Subject| format!("{}{}", subject.look.badge(), Text(&subject.run.label));
    let scenario = |subject: &Subject| {
        let toml = subject.run.scenario_toml.as_str();
        let what = match made {
            [_] => "Scenario as resolved".to_owned(),
            _ => format!("{}: scenario as resolved", name(subject)),
        };
        let fold = format!("<details><summary>{what}</summary>{}</details>", copyable("scenario", toml));
        if toml.is_empty() { String::new() } else { fold }
    };
    let names: Vec<String> = made.iter().map(name).collect();
    let command = made.first().map_or("", |subject| &subject.run.command);
    format!(
        r#"<article class="source"><h3>{}</h3>{}{}</article>"#,
        names.join(" &nbsp; "),
        copyable("command", command),
        made.iter().map(scenario).collect::<String>(),
    )
}

fn copyable(what: &str, text: &str) -> String {
    format!(
        r#"<div class="copyable"><pre tabindex="0"><code>{}</code></pre><button type="button" aria-label="Copy the {what}">Copy</button></div>"#,
        Text(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::Run;

    #[test]
    fn a_command_that_made_several_runs_stands_there_once_and_each_scenario_by_name() {
        let run = |label: &str, command: &str| Run {
            label: label.into(),
            command: command.into(),
            scenario_toml: format!("title = \"{label}\""),
            ..Run::default()
        };
        let runs = [run("lgcc", "compare"), run("abc", "compare"), run("alone", "run")];
        let html = sources(&Subject::all(&runs));
        assert_eq!(html.matches("Copy the command").count(), 2);
        assert_eq!(html.matches("Copy the scenario").count(), 3);
        assert!(html.contains("abc: scenario as resolved") && html.contains("<summary>Scenario as resolved"));
    }
}
