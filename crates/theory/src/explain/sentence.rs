//! The explanation of a run in one sentence.

use super::{Explanation, Finding, Floor, Model, Of, Peak, Swing, Verdict};
use millpond_fluid::stability::NoiseKind;
use millpond_units::format::{at_most_decimals, number};
use std::f64::consts::PI;

/// The verdict in one sentence.
pub fn verdict_sentence(explained: &Explanation) -> String {
    let swings = &explained.swings;
    let Some(shown) = explained.verdict.swing.map(|place| &swings[place]) else {
        return "nothing was recorded that could swing".to_owned();
    };
    let rates = Verdict::rates(swings).unwrap_or(shown);
    let model = &explained.model;
    let candidates = explained.verdict.candidates.join("; ");
    match explained.verdict.finding {
        Finding::Quiet => format!("does not oscillate: {}", quiet(rates)),
        Finding::Unstable => {
            format!(
                "oscillates because its loop is unstable ({}); {}",
                loop_of(model),
                swing_of(swings, shown)
            )
        }
        Finding::DiesOut => format!(
            "oscillates and settles: its loop is stable ({}) and damps an oscillation by x{} per cycle, the series show x{}; {}",
            loop_of(model),
            number(model.growth_per_cycle().unwrap_or(f64::NAN)),
            number(shown.peak.and_then(|peak| peak.growth).map_or(f64::NAN, |growth| growth.per_cycle)),
            swing_of(swings, shown)
        ),
        Finding::Unmoved => format!(
            "does not oscillate, although its loop is unstable ({}): {}. Nothing has disturbed it, or it is held by what a linear \
             model leaves out",
            loop_of(model),
            quiet(rates)
        ),
        Finding::Hidden => {
            let frequency = model.frequency().unwrap_or(f64::NAN);
            format!(
                "cannot be judged by its series: its loop is unstable ({}), and a sample every {} shows nothing faster than {} Hz; run \
                 it again with --set measure.every={}",
                loop_of(model),
                time(explained.interval),
                number(0.5 / explained.interval),
                time(round_down(0.1 / frequency))
            )
        }
        Finding::Otherwise => format!(
            "its loop is unstable ({}), but {}: this is not the oscillation of the linear loop; candidates: {candidates}",
            loop_of(model),
            swing_of(swings, shown)
        ),
        Finding::Unexplained => format!(
            "{}, though its loop is stable ({}) and {}: not explained by the linear model; candidates: {candidates}",
            swing_of(swings, shown),
            loop_of(model),
            chance(shown)
        ),
    }
}

/// `gain 1.18 at 0.41 Hz, limit 1`; a loop whose limit is from below needs more than that.
pub fn loop_of(model: &Model) -> String {
    match model.gain {
        Some(gain) => {
            let limit =
                if model.is_stable() == (gain.gain < 1.0) { "limit 1" } else { "it needs more than 1" };
            format!("gain {} at {} Hz, {limit}", number(gain.gain), number(gain.frequency / (2.0 * PI)))
        }
        None if model.is_stable() => "at any gain".to_owned(),
        None => "a disturbance grows without oscillating".to_owned(),
    }
}

fn quiet(swing: &Swing) -> String {
    let moved = show(swing, swing.deviation);
    let of = name(swing);
    let floor = &swing.floor;
    if floor.total() == 0.0 {
        return format!("{of} rest within {moved}");
    }
    let causes = causes(floor);
    let predicted = show(swing, floor.total());
    if swing.deviation < floor.total() / 2.0 {
        format!("{of} move by {moved}, less than {causes} may make (up to {predicted})")
    } else {
        format!("{of} move by {moved}, which is {causes} (predicted {predicted})")
    }
}

fn chance(swing: &Swing) -> String {
    match swing.floor.total() {
        0.0 => "nothing disturbs it".to_owned(),
        floor => format!("{} makes {}", causes(&swing.floor), show(swing, floor)),
    }
}

/// What makes at least a tenth of the variance.
fn causes(floor: &Floor) -> String {
    let total = floor.total().powi(2);
    let matters = |deviation: f64| deviation.powi(2) > 0.1 * total;
    let named =
        floor.causes.iter().filter(|(_, deviation)| matters(*deviation)).map(|(cause, _)| match cause {
            NoiseKind::Marks => "the noise of marks",
            NoiseKind::Losses => "the noise of losses",
            NoiseKind::Windows => "the grain of whole packets in windows",
        });
    let counted = matters(floor.grain).then_some("the counting of whole packets");
    named.chain(counted).collect::<Vec<_>>().join(" and ")
}

/// `its rates swing at 0.40 Hz with amplitude 38 %, its queue with 2900 packets`; without a frequency that stands out,
/// standard deviations.
fn swing_of(swings: &[Swing], shown: &Swing) -> String {
    let sure = shown.peak.filter(Peak::is_sure);
    let size = |swing: &Swing| match sure {
        Some(_) => format!("with amplitude {}", show(swing, swing.peak.map_or(0.0, |peak| peak.amplitude))),
        None => format!("by {} (s.d.)", show(swing, swing.deviation)),
    };
    let verb = match sure {
        Some(peak) => format!("swing at {} Hz", number(peak.frequency)),
        None => "move at no frequency of their own".to_owned(),
    };
    let rates = Verdict::rates(swings).map(|swing| format!("its rates {verb} {}", size(swing)));
    let queue = Verdict::queue(swings).map(|swing| format!("its queue {}", size(swing)));
    rates.into_iter().chain(queue).collect::<Vec<_>>().join(", ")
}

/// What `swing` is the swing of, as sentences and tables call it.
pub fn name(swing: &Swing) -> String {
    match swing.of {
        Of::Load => "the rates of all flows together".to_owned(),
        Of::Flow => format!("the rates of {}", swing.name),
        Of::Queue => format!("the {}", swing.name),
    }
}

/// Of a rate as a share of its mean, of a queue in packets.
pub fn show(swing: &Swing, x: f64) -> String {
    match swing.of {
        Of::Queue => format!("{} packets", number(x)),
        Of::Load | Of::Flow => format!("{} %", number(100.0 * x / swing.mean)),
    }
}

/// A time as it is typed.
pub fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 1.0 => format!("{}s", at_most_decimals(seconds, 3)),
        _ if seconds >= 1e-3 => format!("{}ms", at_most_decimals(seconds * 1e3, 3)),
        _ => format!("{}us", at_most_decimals(seconds * 1e6, 3)),
    }
}

/// 1, 2 or 5 times a power of ten, the greatest not above `x`.
fn round_down(x: f64) -> f64 {
    let power = 10_f64.powf(x.log10().floor());
    [5.0, 2.0].into_iter().map(|digit| digit * power).find(|value| *value <= x).unwrap_or(power)
}
