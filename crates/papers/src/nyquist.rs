//! Nyquist plots and the numbers that papers read from them.

use super::analysis::AnalysisResult;
use millpond_fluid::Entity;
use millpond_fluid::stability::{AxisCrossing, Complex, Hull, Linearized, Locus, Nyquist, hull};
use millpond_theory::AnalysisError;
use millpond_theory::equilibrium::PlanEquilibrium;
use serde::Deserialize;
use serde_json::{Value, json};

/// The numbers that are read from a Nyquist plot.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NyquistOptions {
    /// The angular frequencies in rad/s at which the loci are read.
    pub at: Vec<f64>,
    /// Every point is multiplied by 1 - j eta. A loop on the curve Gamma of Paganini et al. is then on their
    /// Gamma_eta.
    pub eta: f64,
    /// Whether the eigenvalues are compared with Lemma 5 of the same paper, with Gamma for each sender's loop.
    pub hull: bool,
}

impl NyquistOptions {
    /// Checks what the types cannot express.
    ///
    /// # Errors
    /// A frequency or eta is out of range.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.eta.is_finite() || self.eta < 0.0 {
            return Err(format!("nyquist.eta is at least 0, not {}", self.eta));
        }
        match self.at.iter().find(|frequency| !(frequency.is_finite() && **frequency > 0.0)) {
            Some(frequency) => Err(format!("nyquist.at holds frequencies above 0, not {frequency}")),
            None => Ok(()),
        }
    }

    /// The crossings of the loci with the negative real axis, and their points at the frequencies `at`.
    ///
    /// # Errors
    /// The system has no loop.
    pub(super) fn analyze(&self, equilibrium: &PlanEquilibrium<'_>) -> Result<AnalysisResult, AnalysisError> {
        let linear = equilibrium.linearize();
        let plot = Nyquist::new(&linear.system)?;
        let factor = Complex::new(1.0, -self.eta);
        let axis = plot.crossings(factor);
        let hull = if self.hull { lemma_5(equilibrium, &linear, &plot.loci) } else { None };
        let crossing = |at: &AxisCrossing| json!({ "value": at.value, "frequency_rad_per_s": at.frequency });
        let at = |frequency: &f64| {
            let values = plot.at(*frequency).unwrap_or_default();
            values.iter().map(|value| point(value * factor)).collect::<Vec<_>>()
        };
        let value = json!({
            "axis": axis.iter().map(crossing).collect::<Vec<_>>(),
            "at": self.at.iter().map(at).collect::<Vec<_>>(),
            "hull": hull.map(|hull| json!({
                "radius": hull.radius, "excess": hull.excess, "misfit_rad": hull.misfit,
            })),
        });
        let multiplied = |locus: &Locus| Locus {
            points: locus.points.iter().map(|&(frequency, value)| (frequency, value * factor)).collect(),
        };
        Ok(AnalysisResult {
            value,
            loci: plot.loci.iter().map(multiplied).collect(),
            ..AnalysisResult::default()
        })
    }
}

fn point(value: Complex<f64>) -> Value {
    // Angles of loops begin below the real axis and grow clockwise.
    let angle = if value.im > 0.0 { value.arg() - std::f64::consts::TAU } else { value.arg() };
    json!({ "re": value.re, "im": value.im, "size": value.norm(), "angle_rad": angle })
}

/// Lemma 5 along the loci, with `lambda = e^(-j w tau) / (j w tau)`.
fn lemma_5(equilibrium: &PlanEquilibrium<'_>, linear: &Linearized, loci: &[Locus]) -> Option<Hull> {
    let sender = |(block, owner): (usize, &Entity)| match owner {
        Entity::Loop(l) => Some((block, equilibrium.plan.loops[*l].facts.base_rtt)),
        _ => None,
    };
    let senders: Vec<(usize, f64)> = linear.owners.iter().enumerate().filter_map(sender).collect();
    let frequencies: Vec<f64> = loci.first()?.points.iter().map(|(frequency, _)| *frequency).collect();
    hull(&linear.system, &senders, &frequencies, |tau, frequency| {
        let angle = Complex::new(0.0, frequency * tau);
        (-angle).exp() / angle
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_eta_and_frequencies_of_zero_are_refused() {
        let check = |eta: f64, at: &[f64]| NyquistOptions { eta, at: at.to_vec(), hull: false }.check();
        assert!(check(0.0, &[]).is_ok());
        assert!(check(-0.1, &[]).unwrap_err().contains("nyquist.eta"));
        assert!(check(0.0, &[1.0, 0.0]).unwrap_err().contains("nyquist.at"));
    }

    #[test]
    fn angles_are_negative_and_decrease_clockwise_from_the_positive_axis() {
        let angle = |re: f64, im: f64| point(Complex::new(re, im))["angle_rad"].as_f64().unwrap();
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!((angle(0.0, -1.0) + quarter).abs() < 1e-12);
        assert!((angle(0.0, 1.0) + 3.0 * quarter).abs() < 1e-12);
    }
}
