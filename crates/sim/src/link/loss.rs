//! Random loss on the wire: a packet that is lost has used its share of the capacity.

use millpond_law::Random;

/// How packets are lost at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Each with this probability, independently.
    Bernoulli(f64),
    /// The Gilbert-Elliott chain (Gilbert 1960, Elliott 1963): a good and a bad state, left with the given
    /// probabilities before each packet.
    GilbertElliott {
        /// Probability of going from good to bad.
        worsen: f64,
        /// Probability of going from bad to good.
        recover: f64,
        /// Loss in the good state.
        good: f64,
        /// Loss in the bad state.
        bad: f64,
    },
}

/// The same at work.
#[derive(Debug)]
pub(super) struct LossState {
    loss: Loss,
    in_bad: bool,
    random: Random,
}

impl LossState {
    pub(super) fn new(loss: Loss, random: Random) -> Self {
        Self { loss, in_bad: false, random }
    }

    /// Is the next packet lost?
    pub(super) fn strikes(&mut self) -> bool {
        match self.loss {
            Loss::Bernoulli(probability) => self.random.chance(probability),
            Loss::GilbertElliott { worsen, recover, good, bad } => {
                let leave = if self.in_bad { recover } else { worsen };
                self.in_bad ^= self.random.chance(leave);
                self.random.chance(if self.in_bad { bad } else { good })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(loss: Loss, packets: u32) -> Vec<bool> {
        let mut state = LossState::new(loss, Random::stream(5, "link"));
        (0..packets).map(|_| state.strikes()).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let n = 200_000;
        let share = share(&lost(Loss::Bernoulli(0.02), n));
        // Five standard errors: sqrt(p (1 - p) / n).
        assert!((share - 0.02).abs() < 5.0 * (0.02 * 0.98 / f64::from(n)).sqrt());
        assert!(lost(Loss::Bernoulli(0.0), 1000).iter().all(|lost| !lost));
    }

    #[test]
    fn gilbert_elliott_has_its_stationary_loss_and_burst_length() {
        // Bad a share worsen / (worsen + recover) = 0.01 / 0.26 of the time; bad spells last 1 / recover = 4 packets.
        let chain = Loss::GilbertElliott { worsen: 0.01, recover: 0.25, good: 0.0, bad: 1.0 };
        let lost = lost(chain, 1_000_000);
        assert!((share(&lost) - 0.01 / 0.26).abs() < 0.001);
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((share(&lost) * lost.len() as f64 / bursts - 4.0).abs() < 0.15);
    }
}
