//! Figures for papers.

use crate::common::{VALID, error_of, folder, millpond, stderr};
use std::fs;
use std::path::Path;

const FILES: &str = r#"workload = { transfers = { lognormal = "2kB", sigma = 1 }, every = "25ms" }"#;

/// Runs of two protocols with two flows and eighty transfers of random sizes, in `runs`.
fn runs(folder: &Path) {
    let flow = |name: &str, more: &str| {
        format!("[[flows]]\nname = \"{name}\"\nprotocol = \"cubic\"\npath = [\"A\", \"B\"]\n{more}\n")
    };
    let more = flow("other", "") + &flow("files", FILES);
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
    let several = ["cdf", "ccdf", "quantiles", "completions", "slowdown", "tradeoff", "fairness"];
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

/// A sweep of two rates and two buffers.
#[test]
fn the_figures_of_a_sweep_are_those_of_its_page_in_both_formats_and_widths() {
    let folder = folder(VALID);
    let link = VALID.split("name = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let [rates, buffers] =
        ["rate=2Mbps,4Mbps,8Mbps", "buffer=10packets,20packets"].map(|v| format!("links.{link}.{v}"));
    let sweep = ["sweep", "scenario.toml", "--vary", &rates, "--vary", &buffers, "--out", "swept"];
    let output = millpond(folder.path(), &sweep);
    assert!(output.status.success(), "{}", stderr(&output));
    let other = format!("links.{link}.buffer = 20packets");
    for kind in ["sweep", "sweep-utilization", "sweep-goodput", "sweep-delay"] {
        for columns in ["1", "2"] {
            for format in ["svg", "pdf"] {
                let file = format!("{kind}-{columns}.{format}");
                let arguments = [
                    "figure",
                    "swept",
                    "--kind",
                    kind,
                    "--run",
                    &other,
                    "--columns",
                    columns,
                    "--out",
                    &file,
                ];
                let output = millpond(folder.path(), &arguments);
                assert!(output.status.success(), "{kind}: {}", stderr(&output));
            }
            let svg = fs::read_to_string(folder.path().join(format!("{kind}-{columns}.svg"))).unwrap();
            assert!(svg.matches("<path").count() > 3 && !svg.contains("NaN"), "{kind}");
        }
    }
    let refused = |arguments: &[&str], expected: &str| {
        let error = error_of(folder.path(), &[&["figure"], arguments].concat());
        assert!(error.contains(expected), "{error}");
    };
    refused(
        &["swept", "--kind", "sweep", "--out", "a.pdf"],
        "choose a combination of settings with --run, one of ",
    );
    refused(&["swept", "--kind", "cdf", "--out", "a.pdf"], "its figures are of the kinds sweep, ");
    refused(&[".", "--kind", "sweep", "--out", "a.pdf"], "is not the dataset of a sweep");
    refused(&["swept", "swept", "--kind", "sweep", "--out", "a.pdf"], "name one directory");
}

#[test]
fn every_figure_of_the_page_about_stability_is_written_in_both_formats_and_widths() {
    let folder = folder(include_str!("../../../../scenarios/delay-margin.toml"));
    let mut command =
        vec!["stability", "scenario.toml", "--with-run", "--map", "rtt=100ms..400ms,flows=1..2"];
    command.extend(["--points", "2", "--step", "near=80%", "--figures", "figures"]);
    let output = millpond(folder.path(), &command);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut names: Vec<String> = fs::read_dir(folder.path().join("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let figures = ["bode", "nyquist-loci", "roots", "run-over-time", "spectrum-0", "stability-map", "step-0"];
    let files =
        figures.iter().flat_map(|one| ["1.pdf", "1.svg", "2.pdf", "2.svg"].map(|end| format!("{one}-{end}")));
    assert_eq!(names, files.collect::<Vec<_>>());
    for name in names.iter().filter(|name| name.ends_with("svg")) {
        let svg = fs::read_to_string(folder.path().join("figures").join(name)).unwrap();
        assert!(svg.matches("<path").count() > 3 && !svg.contains("NaN"), "{name}");
    }
    let error = error_of(folder.path(), &command);
    assert!(error.contains("has files already") && error.contains("--force"), "{error}");
}
