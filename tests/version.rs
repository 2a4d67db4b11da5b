//! Versions and requirements, as far as advisories use them (Semantic Versioning 2.0.0).

/// A version: major, minor and patch number, then whether it is a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    numbers: [u64; 3],
    is_release: bool,
}

impl Version {
    /// `1.2.3`, `1.2`, `1.2.3-rc.1+build`; missing numbers are zero.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.split('+').next()?.trim();
        let (numbers, is_release) =
            text.split_once('-').map_or((text, true), |(numbers, _)| (numbers, false));
        let mut parts = numbers.split('.').map(|part| part.parse::<u64>().ok());
        let first = parts.next()??;
        let [minor, patch] = [(); 2].map(|()| parts.next().flatten().unwrap_or(0));
        Some(Self { numbers: [first, minor, patch], is_release })
    }

    /// The first version that is incompatible: the next one of the leftmost number that is not zero.
    fn next_incompatible(self) -> Self {
        let numbers = match self.numbers {
            [0, 0, patch] => [0, 0, patch + 1],
            [0, minor, _] => [0, minor + 1, 0],
            [major, ..] => [major + 1, 0, 0],
        };
        Self { numbers, is_release: false }
    }
}

/// Whether a version meets a requirement such as `>= 1.2, < 2.0` or `^0.3.1`; an empty one is not met.
pub(crate) fn matches(version: &Version, requirement: &str) -> bool {
    let meets = |comparator: &str| {
        let comparator = comparator.trim();
        let number = comparator.trim_start_matches(['<', '>', '=', '^', '~', ' ']);
        let operator = comparator[..comparator.len() - number.len()].trim();
        let Some(bound) = Version::read(number) else { return false };
        match operator {
            ">=" => *version >= bound,
            ">" => *version > bound,
            "<" => *version < bound,
            "<=" => *version <= bound,
            "=" => *version == bound,
            _ => *version >= bound && *version < bound.next_incompatible(),
        }
    };
    requirement.split(',').all(meets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_bound_versions() {
        let is_met = |version, requirement| matches(&Version::read(version).expect("a version"), requirement);
        for (version, requirement) in [
            ("1.2.3", ">= 1.2"),
            ("0.10.3", ">= 0.10.1"),
            ("1.9.0", "^1.2"),
            ("0.3.5", "^ 0.3.1"),
            ("1.0.0", ">= 1.0.0-alpha.1"),
        ] {
            assert!(is_met(version, requirement), "{version} {requirement}");
        }
        for (version, requirement) in [
            ("1.2.3", "< 1.2.3"),
            ("0.4.0", "^0.3.1"),
            ("2.0.0", ">= 1.0, < 2.0"),
            ("1.0.0", ""),
            ("1.0.0-rc.1", ">= 1.0.0"),
        ] {
            assert!(!is_met(version, requirement), "{version} {requirement}");
        }
    }
}
