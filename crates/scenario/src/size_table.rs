//! A distribution of sizes as the data-centre literature publishes it: sizes with their cumulative shares.

use millpond_units::Bytes;

/// A point of a distribution function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeShare {
    /// A size.
    pub size: Bytes,
    /// The share of transfers that are at most this large.
    pub share: f64,
}

/// A distribution function of sizes, linear between its points. Transfers as large as the first point have its share.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    points: Vec<SizeShare>,
}

/// What a line of a file looks like.
const LINE: &str = "a size in bytes and the cumulative share, such as 10000 0.15 or 10000 15";

impl SizeTable {
    /// The distribution with these points.
    ///
    /// # Errors
    /// What is wrong with them: there is none, a size or a share falls, or the last share is not 1.
    pub fn new(points: Vec<SizeShare>) -> Result<Self, String> {
        let Some(last) = points.last() else { return Err("it has no point".to_owned()) };
        for pair in points.windows(2) {
            if pair[1].size < pair[0].size || pair[1].share < pair[0].share {
                return Err(format!(
                    "{} with the share {} follows {} with the share {}: sizes and shares must not fall",
                    pair[1].size, pair[1].share, pair[0].size, pair[0].share
                ));
            }
        }
        if last.share != 1.0 {
            return Err(format!("its last share is {}: all transfers together are 1, or 100 %", last.share));
        }
        if last.size == Bytes::ZERO {
            return Err("its largest size is zero".to_owned());
        }
        Ok(Self { points })
    }

    /// Reads a file with a line for each point: a size in bytes and the cumulative share, between spaces or a comma. Shares
    /// end at 1 or at 100. Empty lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// The first line that is wrong, or what is wrong with the points.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut points = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || format!("line {} is \"{line:.60}\", expected {LINE}", index + 1);
            points.push(point(line).ok_or_else(wrong)?);
        }
        let scale = if points.last().is_some_and(|point| point.share > 1.0) { 100.0 } else { 1.0 };
        points.iter_mut().for_each(|point| point.share /= scale);
        Self::new(points)
    }

    /// Its points.
    pub fn points(&self) -> &[SizeShare] {
        &self.points
    }

    /// The size that a share `share` of the transfers does not exceed.
    pub fn quantile(&self, share: f64) -> Bytes {
        let reached = self.points.partition_point(|point| point.share < share);
        let Some(above) = self.points.get(reached) else {
            return self.points.last().map_or(Bytes::ZERO, |last| last.size);
        };
        let Some(below) = reached.checked_sub(1).and_then(|index| self.points.get(index)) else {
            return above.size;
        };
        let part = (share - below.share) / (above.share - below.share);
        below.size + Bytes::from_f64((above.size.as_f64() - below.size.as_f64()) * part)
    }

    /// The mean.
    pub fn mean(&self) -> Bytes {
        let first = self.points.first().map_or(0.0, |first| first.size.as_f64() * first.share);
        let part = |pair: &[SizeShare]| {
            (pair[1].share - pair[0].share) * (pair[0].size.as_f64() + pair[1].size.as_f64()) / 2.0
        };
        Bytes::from_f64(first + self.points.windows(2).map(part).sum::<f64>())
    }
}

/// The point of a line.
fn point(line: &str) -> Option<SizeShare> {
    let mut words = line.split([',', ' ', '\t', ';']).filter(|word| !word.is_empty());
    let (size, share) = (words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?);
    let sizes = 0.0..1e18;
    let is_point = words.next().is_none() && sizes.contains(&size) && (0.0..=100.0).contains(&share);
    is_point.then(|| SizeShare { size: Bytes::from_f64(size), share })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_percent_and_one_in_shares_are_the_same_distribution() {
        let percent = SizeTable::parse("# size, share\n0 0\n10000 15\n\n20000, 20\n30000000 100\n").unwrap();
        let shares = SizeTable::parse("0,0\n10000,0.15\n20000\t0.2\n30000000 1\n").unwrap();
        assert_eq!(percent, shares);
        assert_eq!(percent.points().len(), 4);
    }

    #[test]
    fn quantiles_are_linear_between_points_and_the_first_point_is_an_atom() {
        let table = SizeTable::parse("1000 0.5\n3000 1").unwrap();
        let quantiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| table.quantile(share).get());
        assert_eq!(quantiles, [1000, 1000, 1000, 2000, 3000]);
        // Half of the transfers have 1000 bytes, the others 2000 on average.
        assert_eq!(table.mean(), Bytes::new(1500));
    }

    #[test]
    fn a_jump_of_the_distribution_is_an_atom() {
        let table = SizeTable::parse("0 0\n100 0.5\n100 0.75\n200 1").unwrap();
        assert_eq!(table.quantile(0.6), Bytes::new(100));
        assert_eq!(table.mean(), Bytes::from_f64(0.5 * 50.0 + 0.25 * 100.0 + 0.25 * 150.0));
    }

    #[test]
    fn what_is_not_a_distribution_is_refused_with_its_reason() {
        let reason = |text: &str| SizeTable::parse(text).unwrap_err();
        assert_eq!(reason("# nothing\n"), "it has no point");
        assert!(reason("1 0.5\n2 x").starts_with("line 2 is \"2 x\", expected a size in bytes"));
        assert!(reason("1 1 0.5").starts_with("line 1"));
        assert!(reason("-1 1").starts_with("line 1"));
        assert!(reason("2 0.5\n1 1").ends_with("sizes and shares must not fall"));
        assert!(reason("1 0.5\n2 0.4\n3 1").ends_with("sizes and shares must not fall"));
        assert!(reason("1 0.5\n2 0.9").contains("its last share is 0.9"));
        assert!(reason("0 1").contains("zero"));
        assert!(reason("1 nan").starts_with("line 1"));
    }
}
