//! Sentences about flows that had data and sent nothing.

use crate::Summary;
use crate::summary::Silence;
use millpond_units::format::at_most_decimals;

/// This many silences have a sentence of their own.
const MOST_SENTENCES: usize = 3;

/// One sentence for each of the longest silences of a run, and one about the others. Empty if there are none.
pub fn silence_sentences(summary: &Summary) -> Vec<String> {
    let mut sentences: Vec<String> = summary.silences.iter().take(MOST_SENTENCES).map(sentence).collect();
    let others = summary.silences.get(MOST_SENTENCES..).unwrap_or_default();
    if let (Some(longest), Some(shortest)) = (others.first(), others.last()) {
        sentences.push(format!(
            "{} more such silences of {} to {} s; summary.json has all of them",
            others.len(),
            seconds(shortest.silent_s),
            seconds(longest.silent_s)
        ));
    }
    sentences
}

fn sentence(silence: &Silence) -> String {
    format!(
        "flow \"{}\" sent nothing from {} s to {} s, although it had data and its path was up ({} s, {:.0} of its base RTTs)",
        silence.flow,
        seconds(silence.from_s),
        seconds(silence.to_s),
        seconds(silence.silent_s),
        silence.base_rtts
    )
}

fn seconds(value: f64) -> String {
    at_most_decimals(value, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(silences: usize) -> Summary {
        let silence = |n: usize| Silence {
            flow: format!("f.{n}"),
            from_s: 15.21,
            to_s: 27.94 - n as f64,
            silent_s: 12.73 - n as f64,
            base_rtts: 254.6,
        };
        Summary { silences: (0..silences).map(silence).collect(), ..Summary::default() }
    }

    #[test]
    fn a_silence_has_a_sentence_with_its_flow_its_times_and_its_base_rtts() {
        assert_eq!(
            silence_sentences(&summary(1)),
            [
                "flow \"f.0\" sent nothing from 15.2 s to 27.9 s, although it had data and its path was up (12.7 s, 255 of its base RTTs)"
            ]
        );
        assert_eq!(silence_sentences(&summary(0)), Vec::<String>::new());
    }

    #[test]
    fn of_many_silences_the_longest_have_sentences_and_the_others_one_together() {
        let sentences = silence_sentences(&summary(8));
        assert_eq!(sentences.len(), 4);
        assert_eq!(sentences[3], "5 more such silences of 5.7 to 9.7 s; summary.json has all of them");
    }
}
