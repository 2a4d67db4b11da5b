//! Claims: rows of a recipe that check the same statement of the paper.

use super::expect::Claimant;
use super::verdict::{JudgedRow, RowVerdict};
use schemars::JsonSchema;
use serde::Serialize;

/// A claim of a paper with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgedClaim {
    /// The claim in words, or the quantity of its rows, with an ellipsis for what differs between them.
    pub claim: String,
    /// The quantity of its first row.
    pub what: String,
    /// The number of its rows.
    pub rows: usize,
    /// `matches` if all rows match: the claim holds. `differs` if rows differ as expected: it does not hold.
    /// `unexplained` if a row is unexplained.
    pub verdict: RowVerdict,
}

/// The claims of a recipe's rows, each with the worst verdict of its rows. Rows of rejected readings belong to none.
pub(super) fn judge_claims(rows: &[JudgedRow]) -> Vec<JudgedClaim> {
    let mut claims: Vec<JudgedClaim> = Vec::new();
    for row in rows.iter().filter(|row| row.source == Claimant::Paper && !row.rejected) {
        for name in &row.claims {
            match claims.iter_mut().find(|claim| claim.claim == *name) {
                Some(claim) => {
                    claim.rows += 1;
                    claim.verdict = claim.verdict.max(row.verdict);
                }
                None => {
                    let (claim, what) = (name.clone(), row.what.clone());
                    claims.push(JudgedClaim { claim, what, rows: 1, verdict: row.verdict });
                }
            }
        }
    }
    claims
}

impl JudgedClaim {
    /// The claim as a sentence part: with its first quantity and the number of its rows.
    pub fn description(&self) -> String {
        let Self { claim, what, rows, .. } = self;
        match rows {
            1 => format!("{claim} ({what})"),
            rows => format!("{claim} ({what} and {} more)", rows - 1),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Expectation;
    use crate::reading::Reading;

    /// A judged row of a claim: a value of 1 matches, 3 differs as expected, and 5 is unexplained.
    pub(crate) fn row(claim: &str, value: f64, rejected: bool) -> JudgedRow {
        let theory = if value == 3.0 { "theory = [3, 3]\nreason = 'r'" } else { "" };
        let text = format!("what = 'x'\naccept = [1, 2]\nbecause = 'b'\n{claim}\n{theory}");
        let row: Expectation = toml::from_str(&text).unwrap();
        row.judge("a", &Reading { rejected, ..Reading::default() }, &Ok(vec![value]), None)
    }

    #[test]
    fn rows_with_one_claim_are_one_claim_with_the_worst_verdict_of_its_rows() {
        let fast = "claim = 'fast'";
        let both = "claim = ['fair', 'fast']";
        let rows = [row(fast, 1.0, false), row(both, 1.0, false), row(fast, 3.0, false)];
        let claims = judge_claims(&rows);
        assert_eq!(claims[0].description(), "fast (x and 2 more)");
        let named: Vec<_> = claims.iter().map(|one| (one.claim.as_str(), one.rows, one.verdict)).collect();
        assert_eq!(named, [("fast", 3, RowVerdict::Differs), ("fair", 1, RowVerdict::Matches)]);
    }
}
