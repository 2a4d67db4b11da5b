//! An equilibrium on a threshold of its laws: both linearizations, and the trajectory between them.

use crate::AnalysisError;
use crate::equilibrium::PlanEquilibrium;
use millpond_fluid::Entity;
use millpond_fluid::motion::{Followed, MotionAboutThreshold, motion_about};
use millpond_fluid::stability::{
    Linearized, OneSided, Root, Side, Sides, Spectrum, Threshold, one_sided, rightmost,
};
use millpond_units::format::duration;

/// The sides agree if their rightmost roots differ by less than this share.
const SAME_ROOT: f64 = 1e-4;

/// An equilibrium on a threshold at which the linearization jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoSided {
    /// The thresholds.
    pub thresholds: Vec<NamedThreshold>,
    /// The linearization on each side.
    pub sides: Vec<SideAnalysis>,
    /// The trajectory of a small disturbance; if it could not be integrated, the reason as a sentence.
    pub motion: Result<MotionAboutThreshold, String>,
}

/// A threshold of a law.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedThreshold {
    /// Name of the switching function.
    pub name: String,
    /// Names of the flows or links whose laws have it.
    pub owners: Vec<String>,
}

/// The linearization on one side of each threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct SideAnalysis {
    /// The side of each threshold.
    pub sides: Vec<Side>,
    /// Its rightmost roots.
    pub spectrum: Spectrum,
}

/// The linearization that represents an equilibrium on a threshold.
pub(super) struct Representative {
    pub(super) linear: Linearized,
    pub(super) spectrum: Spectrum,
    pub(super) two_sided: Option<TwoSided>,
}

impl TwoSided {
    /// The side that the trajectory follows, as an index of [`Self::sides`]; none if it crosses a threshold, if its start
    /// decides, or if it could not be integrated.
    #[must_use]
    pub fn followed(&self) -> Option<usize> {
        let motion = self.motion.as_ref().ok()?;
        let side = |followed: &Followed| match followed {
            Followed::Side(side) => Some(*side),
            Followed::EitherSide | Followed::BothSides => None,
        };
        let followed: Vec<Side> = motion.followed.iter().map(side).collect::<Option<_>>()?;
        self.sides.iter().position(|analysis| analysis.sides == followed)
    }

    /// The trajectory, if it crosses a threshold again and again.
    #[must_use]
    pub fn crossing(&self) -> Option<&MotionAboutThreshold> {
        let motion = self.motion.as_ref().ok()?;
        motion.followed.contains(&Followed::BothSides).then_some(motion)
    }

    /// The thresholds with their owners, as a clause.
    #[must_use]
    pub fn place(&self) -> String {
        let one = |threshold: &NamedThreshold| match &threshold.owners[..] {
            [owner] => format!("\"{}\" of {owner}", threshold.name),
            owners => format!("\"{}\" of {} owners", threshold.name, owners.len()),
        };
        self.thresholds.iter().map(one).collect::<Vec<_>>().join(" and ")
    }

    /// The name of a combination of sides: `above`, or the side of each threshold.
    #[must_use]
    pub fn side_name(&self, analysis: &SideAnalysis) -> String {
        let sides: Vec<&str> = analysis.sides.iter().map(|side| side_word(*side)).collect();
        sides.join(", ")
    }

    /// Which side the trajectory follows: `below`, `above`, `both` if it crosses, `either` if its start decides; with one
    /// of them for each threshold. None if it could not be integrated.
    #[must_use]
    pub fn followed_name(&self) -> Option<String> {
        let motion = self.motion.as_ref().ok()?;
        let words: Vec<&str> = motion.followed.iter().map(|followed| followed_word(*followed)).collect();
        Some(words.join(", "))
    }

    /// Whether a growth rate of the trajectory, in 1/s, is zero within the accuracy of the computation.
    fn is_zero_rate(&self, rate: f64) -> bool {
        self.sides.iter().any(|side| side.spectrum.is_zero_rate(rate))
    }

    /// Which side the trajectory follows, in a sentence without a full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let place = self.place();
        let growth = |motion: &MotionAboutThreshold| match motion.growth {
            rate if self.is_zero_rate(rate) => {
                "neither grows nor decays: the system has a neutral mode".to_owned()
            }
            rate => {
                let verb = if rate < 0.0 { "decays" } else { "grows" };
                format!("{verb} by a factor of e in {}", duration(1.0 / rate.abs()))
            }
        };
        match (&self.motion, self.followed()) {
            (Err(reason), _) => {
                format!("the equilibrium lies on the threshold {place}; no trajectory about it: {reason}")
            }
            (Ok(motion), Some(side)) => format!(
                "the equilibrium lies on the threshold {place}; trajectories stay {} it, where a small disturbance {}",
                self.side_name(&self.sides[side]),
                growth(motion)
            ),
            (Ok(motion), None) if self.crossing().is_some() => {
                let period =
                    motion.period.map_or_else(String::new, |period| format!(" every {}", duration(period)));
                format!(
                    "the equilibrium lies on the threshold {place}; trajectories cross it{period}, so neither linearization \
                     holds, and in the simulation a small disturbance {}",
                    growth(motion)
                )
            }
            (Ok(motion), None) => format!(
                "the equilibrium lies on the threshold {place}; its start decides on which side a trajectory stays; the \
                 slowest small disturbance {}",
                growth(motion)
            ),
        }
    }
}

const fn side_word(side: Side) -> &'static str {
    match side {
        Side::Below => "below",
        Side::Above => "above",
    }
}

const fn followed_word(followed: Followed) -> &'static str {
    match followed {
        Followed::Side(side) => side_word(side),
        Followed::EitherSide => "either",
        Followed::BothSides => "both",
    }
}

/// The linearization on each side of the thresholds of an equilibrium; empty if it lies on none.
pub(super) fn sides_of(equilibrium: &PlanEquilibrium<'_>) -> Sides {
    one_sided(&equilibrium.frozen, &equilibrium.frozen.holding_empty_queues(&equilibrium.point))
}

/// The linearization of an equilibrium on a threshold: that of the side which trajectories follow, or if they cross it, of
/// the side whose disturbances decay most slowly. If a law can be on one side only, that of this side. None if the
/// equilibrium lies on no threshold, or if both sides have the same rightmost roots.
///
/// # Errors
/// Roots that cannot be computed.
pub(super) fn represent(equilibrium: &PlanEquilibrium<'_>) -> Result<Option<Representative>, AnalysisError> {
    let Sides { thresholds, linearizations } = sides_of(equilibrium);
    let mut analyzed = linearizations
        .into_iter()
        .map(|OneSided { sides, linear }| Ok((sides, rightmost(&linear.system)?.with_zero_root(0), linear)))
        .collect::<Result<Vec<_>, AnalysisError>>()?;
    if analyzed.len() < 2 {
        return Ok(analyzed.pop().map(|(_, spectrum, linear)| Representative {
            linear,
            spectrum,
            two_sided: None,
        }));
    }
    if agree(analyzed.iter().map(|(_, spectrum, _)| spectrum)) {
        return Ok(None);
    }
    let motion = motion_about(&equilibrium.frozen, &equilibrium.point, &thresholds);
    let sides = analyzed
        .iter()
        .map(|(sides, spectrum, _)| SideAnalysis { sides: sides.clone(), spectrum: spectrum.clone() });
    let two_sided = TwoSided {
        thresholds: thresholds.iter().map(|threshold| named(equilibrium, threshold)).collect(),
        sides: sides.collect(),
        motion: motion.map_err(|error| error.to_string()),
    };
    let growth = |index: &usize| analyzed[*index].1.rightmost_nonzero();
    let slowest = (0..analyzed.len()).max_by(|a, b| growth(a).total_cmp(&growth(b)));
    let chosen = two_sided.followed().or(slowest).unwrap_or_default();
    let (_, spectrum, linear) = analyzed.swap_remove(chosen);
    Ok(Some(Representative { linear, spectrum, two_sided: Some(two_sided) }))
}

/// The linearizations of an equilibrium on each side of its thresholds, with their sides; without thresholds, one.
pub(super) fn linearizations(equilibrium: &PlanEquilibrium<'_>) -> Vec<OneSided> {
    let found = sides_of(equilibrium).linearizations;
    if found.is_empty() {
        vec![OneSided { sides: Vec::new(), linear: equilibrium.linearize() }]
    } else {
        found
    }
}

/// Whether all sides have the same rightmost root.
fn agree<'s>(mut spectra: impl Iterator<Item = &'s Spectrum>) -> bool {
    let Some(first) = spectra.next().and_then(Spectrum::first_nonzero) else {
        return spectra.all(|spectrum| spectrum.first_nonzero().is_none());
    };
    let is_same = |other: &Root| (other.s - first.s).norm() <= SAME_ROOT * first.s.norm();
    spectra.all(|spectrum| spectrum.first_nonzero().is_some_and(is_same))
}

fn named(equilibrium: &PlanEquilibrium<'_>, threshold: &Threshold) -> NamedThreshold {
    let plan = equilibrium.plan;
    let owner = |entity: &Entity| match *entity {
        Entity::Link(id) => {
            let link = plan.links.iter().find(|link| link.id.is_some_and(|link| link.0 == id));
            link.map_or_else(|| format!("link {id}"), |link| link.entity.clone())
        }
        Entity::Loop(l) | Entity::Relay(l) => plan.loops[l].name.clone(),
    };
    let owners = threshold.owners.iter().map(owner).collect();
    NamedThreshold { name: threshold.name.to_owned(), owners }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a threshold of one flow, with a longest delay of a tenth of a second.
    fn followed_below(growth: f64) -> TwoSided {
        let spectrum = Spectrum { roots: Vec::new(), complete_to: -1.0, time_scale: 0.1, effort: 0.0 };
        TwoSided {
            thresholds: vec![NamedThreshold {
                name: "desired window less window".into(),
                owners: vec!["f".into()],
            }],
            sides: vec![SideAnalysis { sides: vec![Side::Below], spectrum }],
            motion: Ok(MotionAboutThreshold {
                followed: vec![Followed::Side(Side::Below)],
                growth,
                period: None,
            }),
        }
    }

    #[test]
    fn a_growth_of_zero_up_to_rounding_is_a_neutral_mode_and_no_time() {
        let ending =
            |growth| followed_below(growth).sentence().split_once("disturbance ").unwrap().1.to_owned();
        assert_eq!(ending(-9.9e-30), "neither grows nor decays: the system has a neutral mode");
        assert_eq!(ending(9.9e-30), "neither grows nor decays: the system has a neutral mode");
        assert_eq!(ending(-0.5), "decays by a factor of e in 2.00 s");
        assert_eq!(ending(0.5), "grows by a factor of e in 2.00 s");
    }
}
