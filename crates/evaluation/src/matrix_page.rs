//! The page with the verdicts of all protocols and queues: one section for each suite, which carries the fingerprint of the
//! suite when it was written.

use std::collections::BTreeMap;
use std::fmt;

/// What begins a section, before the name of its suite.
const BEGIN: &str = "<!-- suite ";
/// What is between the name of the suite and its fingerprint.
const FINGERPRINT: &str = ", fingerprint ";
/// What ends the line that begins a section.
const BEGIN_END: &str = " -->\n";
/// What ends a section.
const END: &str = "\n<!-- end of suite -->\n";

/// What the page says before its sections.
const HEAD: &str = "\
# Verdicts of all protocols and queues

`millpond evaluate --all --matrix docs/evaluation-matrix.md` writes this page; with `--suite NAME` it writes the section of this suite and keeps the others.
[evaluation.md](evaluation.md) says how criteria are judged, and `millpond evaluate NAME --suite SUITE` prints the evidence for a row.

| mark | meaning |
|---|---|
| met | all rows of the criterion are within their bounds |
| no 2/9 | not met: 2 of its 9 rows are outside |
| ? 1/9 | undecided: no row is outside, and the confidence interval of one contains the bound |
| none 3/9 | not measured: 3 rows have no value, for example because the protocol refuses the scenario |
| - | not judged: a simulation does not have what the criterion is about |

A section is stale if the fingerprint of its suite has changed: `make test` compares them. The fingerprint covers the files of the suite, the list of protocols (or queues),
and the summary of a run of 10 s of each of them: two flows of the protocol beside one of CUBIC over a drop-tail queue, or flows of NewReno, CUBIC and Prague over the queue. A change
of a law that has no effect in this run is not detected, nor is a change of how rows are measured or judged: write the page again after such a change.
";

/// The page, with its sections by the names of their suites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatrixPage {
    /// The sections.
    pub sections: BTreeMap<String, MatrixSection>,
}

/// The section of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixSection {
    /// The fingerprint of the suite when it was run.
    pub fingerprint: String,
    /// Title, tables and explanations, as Markdown.
    pub text: String,
}

impl MatrixPage {
    /// The page of this text.
    ///
    /// # Errors
    /// It is another page, or a section has no end.
    pub fn parse(text: &str) -> Result<Self, String> {
        let title = HEAD.lines().next().unwrap_or_default();
        if text.lines().next() != Some(title) {
            return Err(format!("is no matrix of evaluations: its first line is not \"{title}\""));
        }
        let mut page = Self::default();
        for after in text.split(BEGIN).skip(1) {
            let (name, section) = section(after)
                .ok_or_else(|| format!("has a section that does not end with \"{}\"", END.trim()))?;
            page.sections.insert(name, section);
        }
        Ok(page)
    }
}

/// The name and the section of a text that follows [`BEGIN`].
fn section(text: &str) -> Option<(String, MatrixSection)> {
    let (head, text) = text.split_once(BEGIN_END)?;
    let (name, fingerprint) = head.split_once(FINGERPRINT)?;
    let (text, _) = text.split_once(END)?;
    let section = MatrixSection { fingerprint: fingerprint.to_owned(), text: text.to_owned() };
    Some((name.to_owned(), section))
}

impl fmt::Display for MatrixPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for (name, MatrixSection { fingerprint, text }) in &self.sections {
            write!(f, "\n{BEGIN}{name}{FINGERPRINT}{fingerprint}{BEGIN_END}{text}{END}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_was_written_and_other_pages_are_refused() {
        let section = |fingerprint: &str, text: &str| MatrixSection {
            fingerprint: fingerprint.to_owned(),
            text: text.to_owned(),
        };
        let mut page = MatrixPage::default();
        page.sections.insert("b".to_owned(), section("12", "\n## B\n\n| x |\n|---|\n"));
        page.sections.insert("a".to_owned(), section("ab", "text"));
        let text = page.to_string();
        assert_eq!(MatrixPage::parse(&text), Ok(page));
        assert!(text.find("suite a").unwrap() < text.find("suite b").unwrap());
        assert!(MatrixPage::parse("# Other\n").unwrap_err().contains("its first line"));
        let cut = text.strip_suffix("-->\n").unwrap();
        assert!(MatrixPage::parse(cut).unwrap_err().contains("does not end with \"<!-- end of suite -->\""));
    }
}
