//! Laws that have less to send than they permit.
//!
//! Most laws do not raise a rate that they do not use ([`FluidSender::GROWS_UNUSED`](millpond_law::fluid::FluidSender), RFC 9002,
//! section 7.8): while the relay before a loop has no data, or the relay behind it gives no credit. In the equations the increase
//! ends over the last tenth of the permitted rate, without a jump.

use crate::assembly::{Assembly, SenderClass};
use millpond_law::fluid::SenderInputs;

/// The share of the permitted rate below which a law does not raise it.
const NO_GROWTH: f64 = 0.9;

/// In base round-trip times, the time over which the rate is extrapolated: short enough that it is linear.
const AHEAD: f64 = 1e-4;

/// What laws may add to their rates, from the rates that they permit and those that their loops have.
pub(crate) struct UnusedRates {
    /// For each loop, in bit/s. Empty if each law may raise its rate: without relays, and in analyses.
    permitted: Vec<f64>,
    rates: [Vec<f64>; 2],
    carried: Vec<f64>,
    ahead: Vec<f64>,
}

/// See [`SenderInputs::growth`].
fn growth(sent: f64, permitted: f64) -> f64 {
    if sent < permitted { ((sent / permitted - NO_GROWTH) / (1.0 - NO_GROWTH)).max(0.0) } else { 1.0 }
}

impl UnusedRates {
    /// All rates are used.
    pub(crate) const fn none() -> Self {
        Self {
            permitted: Vec::new(),
            rates: [Vec::new(), Vec::new()],
            carried: Vec::new(),
            ahead: Vec::new(),
        }
    }

    pub(crate) fn new(asm: &Assembly, senders: &mut [SenderInputs]) -> Self {
        if asm.relays.is_empty() {
            return Self::none();
        }
        for inputs in senders {
            inputs.growth = vec![1.0; inputs.count()];
        }
        Self { permitted: vec![0.0; asm.loops.len()], ..Self::none() }
    }

    /// The rates that all laws permit.
    pub(crate) fn note_permitted(&mut self, rates: &[f64]) {
        self.permitted.iter_mut().zip(rates).for_each(|(permitted, rate)| *permitted = *rate);
    }

    /// Sets the growth of all laws. `rates`: what all loops send.
    pub(crate) fn set_growth(&self, asm: &Assembly, rates: &[f64], senders: &mut [SenderInputs]) {
        for (class, inputs) in asm.sender_classes.iter().zip(senders) {
            for (of_flow, &l) in inputs.growth.iter_mut().zip(&class.loops) {
                *of_flow = self.permitted.get(l).map_or(1.0, |permitted| growth(rates[l], *permitted));
            }
        }
    }

    /// Takes away what would raise permitted rates that are not used. `x` and `dx`: those of the class.
    pub(crate) fn hold(&mut self, class: &SenderClass, inputs: &SenderInputs, x: &[f64], dx: &mut [f64]) {
        let limited = inputs.growth.iter().enumerate().filter(|(_, growth)| **growth < 1.0);
        if class.law.grows_unused() || limited.clone().next().is_none() {
            return;
        }
        let width = class.width;
        let step = |i: usize| AHEAD * inputs.base_rtt[i / width];
        self.ahead.clear();
        self.ahead.extend(x.iter().zip(&*dx).enumerate().map(|(i, (x, dx))| x + step(i) * dx));
        self.carried.resize(class.loops.len() * class.law.carried().len(), 0.0);
        for (rates, x) in self.rates.iter_mut().zip([x, &self.ahead]) {
            rates.resize(class.loops.len(), 0.0);
            class.law.rates(0, x, inputs, rates, &mut self.carried);
        }
        for (i, growth) in limited.filter(|(i, _)| self.rates[1][*i] > self.rates[0][*i]) {
            dx[i * width..][..width].iter_mut().for_each(|dx| *dx *= growth);
        }
    }
}
