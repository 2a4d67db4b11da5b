//! The page with the verdicts of all protocols and queues: one section for each suite, with the fingerprints of the suite and
//! of each protocol or queue when its verdicts were written.

use std::collections::BTreeMap;
use std::fmt;

/// What begins a section, before the name of its suite.
const BEGIN: &str = "<!-- suite ";
/// What is between the name of the suite and its fingerprint.
const FINGERPRINT: &str = ", fingerprint ";
/// What ends the comment that begins a section.
const BEGIN_END: &str = "-->\n";
/// What ends a section.
const END: &str = "\n<!-- end of suite -->\n";

/// What the page says before its sections.
const HEAD: &str = "\
# Verdicts of all protocols and queues

`millpond evaluate --all --matrix docs/evaluation-matrix.md` writes this page. With `--suite NAME` it writes the section of this suite and keeps the others; with names of protocols or queues in
place of `--all` it writes their rows and keeps the others. [evaluation.md](evaluation.md) says how criteria are judged, and `millpond evaluate NAME --suite SUITE` prints the evidence for a row.

| mark | meaning |
|---|---|
| met | all rows of the criterion are within their bounds |
| no 2/9 | not met: 2 of its 9 rows are outside |
| ? 1/9 | undecided: no row is outside, and the confidence interval of one contains the bound |
| none 3/9 | not measured: 3 rows have no value, for example because the protocol refuses the scenario |
| - | not judged: a simulation does not have what the criterion is about |

`make test` finds sections and rows that are stale, by fingerprints in a comment before each section. The fingerprint of a suite covers its files. That of a protocol or a queue covers
the summary of a run of 10 s: two flows of the protocol beside one of CUBIC over a drop-tail queue, or flows of NewReno, CUBIC and Prague over the queue. A change of a law that has no effect
in this run is not detected, nor is a change of how rows are measured or judged: write the page again after such a change. The comment also has the version of Millpond that wrote each row.
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
    /// The fingerprint of the suite when the section was written.
    pub fingerprint: String,
    /// The protocols or queues that have a row.
    pub origins: Vec<RowOrigin>,
    /// Title, tables and explanations, as Markdown.
    pub text: String,
}

/// What wrote the row of a protocol or a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOrigin {
    /// The protocol or the queue.
    pub name: String,
    /// Its fingerprint when the row was written.
    pub fingerprint: String,
    /// The version of Millpond.
    pub version: String,
}

impl MatrixPage {
    /// The page of this text.
    ///
    /// # Errors
    /// It is another page, or the beginning or the end of a section is malformed: its line and the heading of the section.
    pub fn parse(text: &str) -> Result<Self, String> {
        let title = HEAD.lines().next().unwrap_or_default();
        if text.lines().next() != Some(title) {
            return Err(format!("is no matrix of evaluations: its first line is not \"{title}\""));
        }
        let begins = text.match_indices(BEGIN).map(|(place, _)| place);
        let ends = begins.clone().skip(1).chain([text.len()]);
        let sections = begins.zip(ends).map(|(begin, end)| {
            let first_line = 1 + text[..begin].matches('\n').count();
            section(&text[begin + BEGIN.len()..end], first_line)
        });
        Ok(Self { sections: sections.collect::<Result<_, _>>()? })
    }
}

impl MatrixSection {
    /// The verdicts of a protocol or a queue in all tables, from left to right; none if it has no row.
    pub fn verdicts(&self, name: &str) -> Vec<String> {
        let cells = |line: &str| {
            let mut cells = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim);
            (cells.next()? == name).then(|| cells.map(str::to_owned).collect::<Vec<_>>())
        };
        self.text.lines().filter_map(cells).flatten().collect()
    }
}

impl RowOrigin {
    /// The origin of this line: name, fingerprint and version.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(3, ' ').map(str::to_owned);
        Some(Self { name: words.next()?, fingerprint: words.next()?, version: words.next()? })
    }
}

/// The name and the section of a text that follows [`BEGIN`], which is on `first_line` of the page.
fn section(text: &str, first_line: usize) -> Result<(String, MatrixSection), String> {
    let whole = text;
    let malformed = |line: usize, what: &str| {
        let line = first_line + line;
        format!("line {line}: the section {} does not {what}", heading(whole))
    };
    let (head, text) =
        text.split_once(BEGIN_END).ok_or_else(|| malformed(0, "begin with a whole comment"))?;
    let mut lines = head.lines();
    let first = lines.next().and_then(|line| line.split_once(FINGERPRINT));
    let (name, fingerprint) = first.ok_or_else(|| malformed(0, "begin with its suite and fingerprint"))?;
    let origin = |(index, line)| {
        RowOrigin::parse(line)
            .ok_or_else(|| malformed(1 + index, "list a name, a fingerprint and a version here"))
    };
    let origins = lines.enumerate().map(origin).collect::<Result<_, _>>()?;
    let end = || malformed(0, &format!("end with \"{}\"", END.trim()));
    let (text, _) = text.split_once(END).ok_or_else(end)?;
    let section = MatrixSection { fingerprint: fingerprint.to_owned(), origins, text: text.to_owned() };
    Ok((name.to_owned(), section))
}

/// The heading of a section in quotation marks, or the suite in its first line if it has no heading.
fn heading(section: &str) -> String {
    let suite = section.lines().next().unwrap_or_default().split([',', ' ']).next().unwrap_or_default();
    let heading = section.lines().find_map(|line| line.strip_prefix("## "));
    format!("\"{}\"", heading.map_or_else(|| format!("suite {suite}"), |heading| format!("## {heading}")))
}

impl fmt::Display for MatrixPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for (name, MatrixSection { fingerprint, origins, text }) in &self.sections {
            write!(f, "\n{BEGIN}{name}{FINGERPRINT}{fingerprint}\n")?;
            for RowOrigin { name, fingerprint, version } in origins {
                writeln!(f, "{name} {fingerprint} {version}")?;
            }
            write!(f, "{BEGIN_END}{text}{END}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(fingerprint: &str, names: &[&str], text: &str) -> MatrixSection {
        let origin = |name: &&str| RowOrigin {
            name: (*name).to_owned(),
            fingerprint: "0123".to_owned(),
            version: "0.1.0 (abcd)".to_owned(),
        };
        MatrixSection {
            fingerprint: fingerprint.to_owned(),
            origins: names.iter().map(origin).collect(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_page_is_read_as_it_was_written_and_other_pages_are_refused() {
        let mut page = MatrixPage::default();
        page.sections.insert("b".to_owned(), section("12", &["cubic", "lgcc"], "\n## B\n\n| x |\n|---|\n"));
        page.sections.insert("a".to_owned(), section("ab", &[], "text"));
        let text = page.to_string();
        assert_eq!(MatrixPage::parse(&text), Ok(page));
        assert!(text.find("suite a").unwrap() < text.find("suite b").unwrap());
        let refused = |text: &str| MatrixPage::parse(text).unwrap_err();
        assert!(refused("# Other\n").contains("its first line"));
        let cut = text.strip_suffix("-->\n").unwrap();
        assert!(refused(cut).ends_with("the section \"## B\" does not end with \"<!-- end of suite -->\""));
        assert!(
            refused(&text.replace(FINGERPRINT, " "))
                .contains("\"suite a\" does not begin with its suite and")
        );
        let damaged = text.replace("cubic 0123 0.1.0", "cubic");
        let line = 1 + damaged.lines().position(|line| line.starts_with("cubic")).unwrap();
        let expected = "the section \"## B\" does not list a name, a fingerprint and a version here";
        assert_eq!(refused(&damaged), format!("line {line}: {expected}"));
    }

    #[test]
    fn the_verdicts_of_a_row_are_those_of_all_tables() {
        let text = "\n| protocol | 1 | 2 |\n|---|---|---|\n| bbr1 | met | no 1/3 |\n| bbr11 | - | - |\n\n| protocol | 3 |\n|---|---|\n| bbr1 | ? 1/9 |\n";
        let section = section("12", &["bbr1"], text);
        assert_eq!(section.verdicts("bbr1"), ["met", "no 1/3", "? 1/9"]);
        assert!(section.verdicts("bbr").is_empty());
    }
}
