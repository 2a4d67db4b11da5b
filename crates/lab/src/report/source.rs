//! How to get a run again: its command and its scenario.

use super::markup::Text;
use super::subject::Subject;

/// The command in sight, the scenario behind a fold; one after the other for all runs.
pub(super) fn sources(subjects: &[Subject]) -> String {
    subjects.iter().map(source).collect()
}

fn source(subject: &Subject) -> String {
    let scenario = match subject.run.scenario_toml.as_str() {
        "" => String::new(),
        toml => format!(
            "<details><summary>Scenario as resolved</summary>{}</details>",
            copyable("scenario", toml)
        ),
    };
    format!(
        r#"<article class="source"><h3>{}{}</h3>{}{scenario}</article>"#,
        subject.look.badge(),
        Text(&subject.run.label),
        copyable("command", &subject.run.command),
    )
}

fn copyable(what: &str, text: &str) -> String {
    format!(
        r#"<div class="copyable"><pre tabindex="0"><code>{}</code></pre><button type="button" aria-label="Copy the {what}">Copy</button></div>"#,
        Text(text)
    )
}
