//! The headline of checked recipes: the numbers of claims that hold, and of rows that check something else.

use super::check::CheckedRecipe;
use super::claims::JudgedClaim;
use super::expect::Claimant;
use super::paper::PaperKind;
use super::verdict::{JudgedRow, RowVerdict};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// Checked recipes with their headline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CheckedPapers {
    /// The numbers of claims that hold.
    pub headline: Headline,
    /// The recipes.
    pub recipes: Vec<CheckedRecipe>,
}

/// The numbers of claims that hold, and of rows that check something else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Headline {
    /// The papers that the repository is about, of which recipes were checked.
    pub papers: Vec<String>,
    /// Their claims.
    pub claims: ClaimCounts,
    /// The claims of other papers.
    pub other_papers: ClaimCounts,
    /// Rows that compare with ns-2.
    pub ns2: RowCounts,
    /// Rows that check our own closed forms and reference models.
    pub own: RowCounts,
    /// Rows under readings that we reject.
    pub rejected_readings: RowCounts,
}

/// Numbers of claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClaimCounts {
    /// All claims.
    pub claims: usize,
    /// Claims that hold.
    pub hold: usize,
    /// Claims that do not hold, with reason.
    pub do_not_hold: usize,
    /// Claims with an unexplained row.
    pub unexplained: usize,
}

/// Numbers of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RowCounts {
    /// All rows.
    pub rows: usize,
    /// Rows that match.
    pub matches: usize,
    /// Rows that differ as expected.
    pub differs: usize,
    /// Unexplained rows.
    pub unexplained: usize,
}

impl CheckedPapers {
    /// The recipes with their headline.
    pub fn new(recipes: Vec<CheckedRecipe>) -> Self {
        Self { headline: Headline::of(&recipes), recipes }
    }
}

impl Headline {
    /// Counts the claims of recipes.
    pub fn of(recipes: &[CheckedRecipe]) -> Self {
        let subjects = || recipes.iter().filter(|recipe| recipe.kind == PaperKind::Subject);
        let others = recipes.iter().filter(|recipe| recipe.kind != PaperKind::Subject);
        let papers: BTreeSet<_> = subjects().filter_map(|recipe| recipe.recipe.split('/').next()).collect();
        let rows = |belongs: fn(&JudgedRow) -> bool| {
            RowCounts::of(recipes.iter().flat_map(|recipe| &recipe.rows).filter(|row| belongs(row)))
        };
        Self {
            papers: papers.into_iter().map(str::to_owned).collect(),
            claims: ClaimCounts::of(subjects().flat_map(|recipe| &recipe.claims)),
            other_papers: ClaimCounts::of(others.flat_map(|recipe| &recipe.claims)),
            ns2: rows(|row| row.source == Claimant::Ns2 && !row.rejected),
            own: rows(|row| row.source == Claimant::Own && !row.rejected),
            rejected_readings: rows(|row| row.rejected),
        }
    }

    /// The sentence about the claims of the papers that the repository is about.
    pub fn sentence(&self) -> String {
        let papers = match self.papers.as_slice() {
            [one] => one.clone(),
            [_, _, _, _, _] => "the five papers".to_owned(),
            several => several.join(", "),
        };
        self.claims.sentence(&papers)
    }

    /// A line for each kind of row that is no claim of these papers, if there are any.
    pub fn apart(&self) -> Vec<String> {
        let claims = (self.other_papers.claims > 0).then(|| self.other_papers.sentence("other papers"));
        let rows = [
            ("comparisons with ns-2", self.ns2),
            ("own checks", self.own),
            ("rejected readings", self.rejected_readings),
        ];
        let rows = rows.iter().filter(|(_, counts)| counts.rows > 0);
        claims.into_iter().chain(rows.map(|(name, counts)| format!("{name}: {counts}"))).collect()
    }
}

impl ClaimCounts {
    fn of<'a>(claims: impl Iterator<Item = &'a JudgedClaim>) -> Self {
        claims.fold(Self::default(), |mut counts, claim| {
            counts.claims += 1;
            *match claim.verdict {
                RowVerdict::Matches => &mut counts.hold,
                RowVerdict::Differs => &mut counts.do_not_hold,
                RowVerdict::Unexplained => &mut counts.unexplained,
            } += 1;
            counts
        })
    }

    fn sentence(&self, papers: &str) -> String {
        let Self { claims, hold, do_not_hold, unexplained } = self;
        format!(
            "{hold} of the {claims} claims of {papers} hold, {do_not_hold} do not, with reason; {unexplained} unexplained"
        )
    }
}

impl RowCounts {
    fn of<'a>(rows: impl Iterator<Item = &'a JudgedRow>) -> Self {
        rows.fold(Self::default(), |mut counts, row| {
            counts.rows += 1;
            *match row.verdict {
                RowVerdict::Matches => &mut counts.matches,
                RowVerdict::Differs => &mut counts.differs,
                RowVerdict::Unexplained => &mut counts.unexplained,
            } += 1;
            counts
        })
    }
}

impl fmt::Display for RowCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, matches, differs, unexplained } = self;
        write!(f, "{rows} rows: {matches} match, {differs} differ with reason, {unexplained} unexplained")
    }
}

#[cfg(test)]
mod tests {
    use super::super::claims::judge_claims;
    use super::super::claims::tests::row;
    use super::*;

    fn recipe(name: &str, kind: PaperKind, rows: Vec<JudgedRow>) -> CheckedRecipe {
        CheckedRecipe {
            recipe: name.into(),
            title: String::new(),
            place: String::new(),
            claim: String::new(),
            kind,
            claims: judge_claims(&rows),
            rows,
            runs: Vec::new(),
            figures: Vec::new(),
            measured: Vec::new(),
            loci: Vec::new(),
            agreements: Vec::new(),
        }
    }

    #[test]
    fn the_headline_counts_claims_of_papers_and_other_rows_apart() {
        let (fast, fair, slow) = ("claim = 'fast'", "claim = 'fair'", "claim = 'slow'");
        let mcp =
            vec![row(fast, 1.0, false), row(fair, 3.0, false), row(slow, 5.0, false), row(fast, 5.0, true)];
        let xcp = vec![row(fast, 1.0, false), row("ns2 = 1", 1.0, false), row("own = 1", 5.0, false)];
        let checked = CheckedPapers::new(vec![
            recipe("mcp/fig3", PaperKind::Subject, mcp),
            recipe("xcp/fifty", PaperKind::Other, xcp),
        ]);
        let headline = checked.headline;
        assert_eq!(
            headline.sentence(),
            "1 of the 3 claims of mcp hold, 1 do not, with reason; 1 unexplained"
        );
        assert_eq!(
            headline.apart(),
            [
                "1 of the 1 claims of other papers hold, 0 do not, with reason; 0 unexplained",
                "comparisons with ns-2: 1 rows: 1 match, 0 differ with reason, 0 unexplained",
                "own checks: 1 rows: 0 match, 0 differ with reason, 1 unexplained",
                "rejected readings: 1 rows: 0 match, 0 differ with reason, 1 unexplained",
            ]
        );
    }
}
