//! Figures for papers.

use crate::common::{VALID, error_of, folder, millpond, stderr};
use std::fs;
use std::path::Path;

/// Runs of two protocols with two flows and a transfer, in `runs`.
fn runs(folder: &Path) {
    let flow = |name: &str, more: &str| {
        format!("[[flows]]\nname = \"{name}\"\nprotocol = \"cubic\"\npath = [\"A\", \"B\"]\n{more}\n")
    };
    let more = flow("other", "") + &flow("file", "workload = { size = \"20kB\" }");
    fs::write(folder.join("scenario.toml"), format!("{VALID}\n{more}")).unwrap();
    let compare = ["compare", "scenario.toml", "--protocols", "newreno,cubic", "--out", "runs"];
    let output = millpond(folder, &compare);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn every_kind_of_figure_is_written_in_both_formats_and_widths() {
    let folder = folder(VALID);
    runs(folder.path());
    let one_run = ["over-time", "goodput", "stacked", "queue", "delay"];
    let several = ["cdf", "ccdf", "quantiles", "completions", "tradeoff", "fairness"];
    for kind in one_run.into_iter().chain(several) {
        for (columns, points) in [("1", "252"), ("2", "515.52")] {
            let [svg, pdf] = ["svg", "pdf"].map(|format| format!("{kind}-{columns}.{format}"));
            for file in [&svg, &pdf] {
                let mut arguments =
                    vec!["figure", "runs", "--kind", kind, "--columns", columns, "--out", file];
                if one_run.contains(&kind) {
                    arguments.extend(["--run", "cubic"]);
                }
                let output = millpond(folder.path(), &arguments);
                assert!(output.status.success(), "{kind}: {}", stderr(&output));
            }
            let svg = fs::read_to_string(folder.path().join(svg)).unwrap();
            assert!(svg.contains(&format!("width=\"{points}pt\"")), "{kind}");
            assert!(svg.matches("<path").count() > 3 && !svg.contains("NaN"), "{kind}");
            assert!(fs::read(folder.path().join(pdf)).unwrap().starts_with(b"%PDF-"), "{kind}");
        }
    }
}

#[test]
fn a_figure_that_cannot_be_drawn_is_refused_with_what_can() {
    let folder = folder(VALID);
    runs(folder.path());
    let refused = |arguments: &[&str], expected: &str| {
        let error = error_of(folder.path(), &[&["figure", "runs"], arguments].concat());
        assert!(error.contains(expected), "{error}");
        assert!(!folder.path().join("a.pdf").exists());
    };
    refused(&["--kind", "queue", "--out", "a.pdf"], "choose it with --run, one of ");
    refused(&["--kind", "queue", "--run", "vegas", "--out", "a.pdf"], "labels: newreno, cubic");
    refused(&["--kind", "tradeoff", "--run", "cubic", "--out", "a.pdf"], "at least two runs");
    refused(&["--kind", "histogram", "--out", "a.pdf"], "ccdf");
    refused(&["--kind", "cdf", "--out", "a.png"], ".pdf or .svg");
    refused(&["--kind", "cdf", "--columns", "3", "--out", "a.pdf"], "expected 1 or 2");
}
