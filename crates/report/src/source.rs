//! How to reproduce a run: its command and its scenario.

use super::run_view::RunView;
use maud::{Markup, html};

/// Each command once for all runs that it made, with their scenarios folded below.
pub(super) fn sources(views: &[RunView]) -> Markup {
    html! {
        @for made in views.chunk_by(|one, next| one.run.command == next.run.command) { (source(made)) }
    }
}

/// One command and the runs that it made.
fn source(made: &[RunView]) -> Markup {
    let command = made.first().map_or("", |view| &view.run.command);
    html! {
        article.source {
            h3 {
                @for (index, view) in made.iter().enumerate() {
                    @if index > 0 { " \u{a0} " }
                    (view.style.badge()) (view.run.label)
                }
            }
            (copyable("command", command))
            @for view in made.iter().filter(|view| !view.run.scenario_toml.is_empty()) {
                details {
                    summary {
                        @if made.len() == 1 {
                            "Resolved scenario"
                        } @else {
                            (view.style.badge()) (view.run.label) ": resolved scenario"
                        }
                    }
                    (copyable("scenario", &view.run.scenario_toml))
                }
            }
        }
    }
}

fn copyable(what: &str, text: &str) -> Markup {
    html! {
        div.copyable {
            pre tabindex="0" { code { (text) } }
            button type="button" aria-label={ "Copy the " (what) } { "Copy" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::Run;

    #[test]
    fn a_command_that_made_several_runs_is_shown_once_and_each_scenario_by_its_name() {
        let run = |label: &str, command: &str| Run {
            label: label.into(),
            command: command.into(),
            scenario_toml: format!("title = \"{label}\""),
            ..Run::default()
        };
        let runs = [run("lgcc", "compare"), run("abc", "compare"), run("alone", "run")];
        let html = sources(&RunView::all(&runs)).into_string();
        assert_eq!(html.matches("Copy the command").count(), 2);
        assert_eq!(html.matches("Copy the scenario").count(), 3);
        assert!(html.contains("abc: resolved scenario") && html.contains("<summary>Resolved scenario"));
    }
}
