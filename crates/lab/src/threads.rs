//! The number of threads of runs.

use std::env;
use std::thread::available_parallelism;

/// The variable of the environment that sets the number of threads.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// How many threads execute runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadCount {
    /// The number of threads, from one to one per processor core.
    pub threads: usize,
    /// A larger number that was asked for, and the name of the option or variable that did.
    pub refused: Option<(&'static str, usize)>,
}

impl ThreadCount {
    /// As many threads as `requested` says, with the name of its option; else the environment variable
    /// `RAYON_NUM_THREADS`; else one per processor core. There are at most as many as cores.
    pub fn of(requested: Option<(&'static str, usize)>) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self::among(cores, requested, env::var(VARIABLE).ok().as_deref())
    }

    /// The same with a given number of cores and a given text of the variable. A number of zero, or a text that is no
    /// number, asks for nothing. More threads than cores would make nothing faster, and each run needs memory.
    fn among(cores: usize, requested: Option<(&'static str, usize)>, variable: Option<&str>) -> Self {
        let variable = variable.and_then(|text| text.trim().parse().ok()).map(|number| (VARIABLE, number));
        let wanted = [requested, variable].into_iter().flatten().find(|&(_, number)| number > 0);
        Self {
            threads: wanted.map_or(cores, |(_, number)| number.min(cores)),
            refused: wanted.filter(|&(_, number)| number > cores),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among_four(
        requested: Option<usize>,
        variable: Option<&str>,
    ) -> (usize, Option<(&'static str, usize)>) {
        let count = ThreadCount::among(4, requested.map(|number| ("--jobs", number)), variable);
        (count.threads, count.refused)
    }

    #[test]
    fn the_request_counts_before_the_variable_and_one_thread_per_core_is_the_default() {
        assert_eq!(among_four(None, None), (4, None));
        assert_eq!(among_four(None, Some(" 3 ")), (3, None));
        assert_eq!(among_four(Some(2), Some("3")), (2, None));
    }

    #[test]
    fn more_threads_than_cores_are_refused_whoever_asks_for_them() {
        assert_eq!(among_four(Some(4), None), (4, None));
        assert_eq!(among_four(Some(5), None), (4, Some(("--jobs", 5))));
        assert_eq!(among_four(None, Some("9999")), (4, Some(("RAYON_NUM_THREADS", 9999))));
        assert_eq!(among_four(Some(1), Some("9999")), (1, None));
    }

    #[test]
    fn zero_and_text_that_is_no_number_ask_for_nothing() {
        assert_eq!(among_four(Some(0), Some("0")), (4, None));
        assert_eq!(among_four(Some(0), Some("2")), (2, None));
        for text in ["", "many", "-1", "99999999999999999999"] {
            assert_eq!(among_four(None, Some(text)), (4, None), "{text:?}");
        }
    }
}
