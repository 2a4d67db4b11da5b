//! The amplification of oscillations along a chain of LGCC relays: linear theory against the fluid world.

use crate::common::{samples_of, scenario, series};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};
use millpond_theory::Study;
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::analyze_stability;
use std::f64::consts::PI;

/// Four loops with round trips of 6 ms: 40 Mbit/s, then a last link with this rate.
fn chain(rate: &str) -> String {
    format!(
        "title = \"chain\"\nduration = \"30s\"\nmeasure = {{ from = \"20s\", every = \"10ms\" }}\n[chain]\nhops = 4\n\
         link = {{ rate = \"40Mbps\", delay = \"3ms\", buffer = \"unlimited\" }}\n[chain.last]\nrate = {rate}\n\
         delay = \"3ms\"\nbuffer = \"unlimited\"\n[[flows]]\nname = \"f\"\nprotocol = \"lgcc\"\n\
         [protocols.lgcc]\nrelays = \"all\"\n"
    )
}

/// A sinusoid of .02 % about 25 Mbit/s with this frequency, in twelve steps per period.
fn modulated(frequency: f64) -> String {
    let steps = (0..(30.0 * 12.0 * frequency) as u32).map(|step| {
        let rate = 25e6 * (1.0 + 2e-4 * (2.0 * PI * f64::from(step) / 12.0).sin());
        format!("[\"{:.6}s\", \"{rate:.0}bps\"]", f64::from(step) / (12.0 * frequency))
    });
    format!("{{ steps = [{}] }}", steps.collect::<Vec<_>>().join(", "))
}

/// The amplitude of a loop's rate at this frequency, in the last ten seconds.
fn amplitude(run: &Run, entity: &str, frequency: f64) -> f64 {
    let values = samples_of(series(run, entity, "rate"), (20.0, 30.0));
    let mean = values.iter().map(|(_, rate)| rate).sum::<f64>() / values.len() as f64;
    let (sin, cos) = values.iter().fold((0.0, 0.0), |(sin, cos), (time, rate)| {
        let angle = 2.0 * PI * frequency * time;
        (sin + (rate - mean) * angle.sin(), cos + (rate - mean) * angle.cos())
    });
    2.0 / values.len() as f64 * f64::hypot(sin, cos)
}

/// `sqrt(D (D + tau)) / (D - T)` with D = 8 T and tau = T ln 10 / .05 is 2.97, at 1 / (2 pi sqrt(D tau)) = 1.38 Hz.
#[test]
fn the_gain_per_relay_is_that_of_the_closed_form_and_of_the_fluid_world() {
    let registry = Registry::builtin();
    let still = scenario(&chain("\"25Mbps\""), &[]);
    let plan = Study::new(&still, &registry).plan().unwrap();
    let stability = analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap();
    let [found] = &stability.chains[..] else { panic!("one chain") };
    let hop = found.greatest_hop().unwrap();
    assert_eq!(found.chain.hops.len(), 3);
    assert!((hop.gain / 2.97 - 1.0).abs() < 0.03 && (hop.frequency / 1.38 - 1.0).abs() < 0.06, "{hop:?}");
    assert!((found.chain.gain / hop.gain.powi(3) - 1.0).abs() < 0.03, "{found:?}");
    let moving = scenario(&chain(&modulated(hop.frequency)), &[]);
    let run = run(&moving, &registry, About { world: World::Fluid, ..About::default() }, &Unwatched);
    let run = run.unwrap_or_else(|error| panic!("{error}")).run;
    let amplitudes: Vec<f64> =
        ["f/loop1", "f/loop2", "f/loop3"].iter().map(|name| amplitude(&run, name, hop.frequency)).collect();
    for pair in amplitudes.windows(2) {
        assert!((pair[0] / pair[1] / hop.gain - 1.0).abs() < 0.05, "{amplitudes:?} {hop:?}");
    }
}
