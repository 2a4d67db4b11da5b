//! Random loss on a link, after service: a lost packet has used its share of the capacity.

use millpond_law::Random;

/// A model of random loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Independent losses with this probability.
    Bernoulli(f64),
    /// The Gilbert-Elliott chain (Gilbert 1960, Elliott 1963): a good and a bad state, with transitions before each packet.
    GilbertElliott {
        /// Transition probability from good to bad.
        worsen: f64,
        /// Transition probability from bad to good.
        recover: f64,
        /// Loss probability in the good state.
        good: f64,
        /// Loss probability in the bad state.
        bad: f64,
    },
}

/// State of a loss model.
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

    /// True if the next packet is lost.
    pub(super) fn is_lost(&mut self) -> bool {
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
        (0..packets).map(|_| state.is_lost()).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn bernoulli_loss_has_its_probability() {
        let n = 200_000;
        let share = share(&lost(Loss::Bernoulli(0.02), n));
        // Five standard errors: sqrt(p (1 - p) / n).
        assert!((share - 0.02).abs() < 5.0 * (0.02 * 0.98 / f64::from(n)).sqrt());
        assert!(lost(Loss::Bernoulli(0.0), 1000).iter().all(|lost| !lost));
    }

    #[test]
    fn gilbert_elliott_has_its_stationary_loss_and_burst_length() {
        // The bad state has probability worsen / (worsen + recover) = 0.01 / 0.26 and lasts 1 / recover = 4 packets.
        let chain = Loss::GilbertElliott { worsen: 0.01, recover: 0.25, good: 0.0, bad: 1.0 };
        let lost = lost(chain, 1_000_000);
        assert!((share(&lost) - 0.01 / 0.26).abs() < 0.001);
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((share(&lost) * lost.len() as f64 / bursts - 4.0).abs() < 0.15);
    }
}
