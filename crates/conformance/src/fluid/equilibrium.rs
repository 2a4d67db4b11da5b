//! At the equilibrium that a law declares, all derivatives are zero.

use super::pieces::{BEFORE, Piece, RouterPiece, SenderPiece};
use super::{LOOP, model};
use crate::Laws;
use millpond_law::Settings;
use millpond_law::fluid::{Allocation, FluidModel, Marginal, PriceSum, State};

/// Each protocol that has a model, at its defaults.
fn models(laws: &Laws) -> Vec<(&'static str, Box<dyn FluidModel>)> {
    let of = |protocol: &'static dyn millpond_law::Protocol| {
        let settings = Settings::check(protocol.card().parameters, []).unwrap();
        Some((protocol.card().name, model(protocol, &settings)?))
    };
    laws.protocols().filter_map(of).collect()
}

/// Step of the midpoint rule in seconds, small enough for the fastest of these laws.
const STEP: f64 = 1e-3;
/// Duration in seconds, long enough for the slowest law.
const SECONDS: f64 = 120.0;

/// The states after a long time with constant inputs.
fn settle(states: &[State], mut value: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let mut x: Vec<f64> = states.iter().map(|state| state.initial).collect();
    let held = |x: f64, state: &State| x.max(state.lower).min(state.upper);
    for _ in 0..(SECONDS / STEP) as u64 {
        let first = value(&x);
        let half: Vec<f64> = x.iter().zip(&first).map(|(x, dx)| x + dx * STEP / 2.0).collect();
        let second = value(&half);
        for ((x, dx), state) in x.iter_mut().zip(&second).zip(states) {
            *x = held(*x + dx * STEP, state);
        }
    }
    x
}

/// The rate of a flow after a long time with constant inputs, acknowledged at its own rate.
fn rate_with_constant_inputs(flow: &SenderPiece, mut values: Vec<f64>) -> f64 {
    let states = flow.states();
    let mut acked = 1e5;
    let x = settle(&states, |x| {
        values[4] = acked;
        let value = flow.value(&[x, &values].concat());
        acked = value[states.len()];
        value
    });
    flow.value(&[x, values].concat())[states.len()]
}

fn inputs_for_price(marginal: &dyn Marginal, prices: PriceSum, rate: f64) -> Vec<f64> {
    let price = marginal.marginal(rate);
    match prices {
        PriceSum::Plain => vec![price, 0.0, 0.0, 0.0, 0.0, price, price],
        PriceSum::Marked => vec![0.0, 0.0, -libm::expm1(-price), 0.0, 0.0, 0.0, 0.0],
    }
}

/// A flow with a utility sends the rate at which its marginal utility is the price. Returns the protocols that have one.
///
/// # Panics
/// It is not so.
#[must_use]
pub fn with_a_constant_price_a_flow_sends_its_demand(laws: &Laws) -> Vec<&'static str> {
    let mut seen = Vec::new();
    for (name, model) in models(laws) {
        let Allocation::Utility { marginal, prices } = model.allocation(&LOOP) else { continue };
        assert!(marginal.is_concave());
        for rate in [1e6, 3e6] {
            let demand = marginal.demand(marginal.marginal(rate));
            assert!((demand / rate - 1.0).abs() < 1e-9, "{name}: {demand} is not the inverse of {rate}");
            let sent = rate_with_constant_inputs(
                &SenderPiece::of(&*model),
                inputs_for_price(&*marginal, prices, rate),
            );
            assert!((sent / rate - 1.0).abs() < 1e-3, "{name}: sends {sent}, demands {rate}");
        }
        seen.push(name);
    }
    seen
}

/// A flow that receives a rate sends at it. Returns the protocols that do.
///
/// # Panics
/// It is not so.
#[must_use]
pub fn with_a_constant_signalled_rate_a_max_min_flow_sends_at_it(laws: &Laws) -> Vec<&'static str> {
    let mut seen = Vec::new();
    for (name, model) in models(laws) {
        let flow = SenderPiece::of(&*model);
        let has_rate_feedback = flow.0.feedback().first().is_some_and(|feedback| feedback.unit == "bit/s");
        if !matches!(model.allocation(&LOOP), Allocation::MaxMin { .. }) || !has_rate_feedback {
            continue;
        }
        let mut values = vec![0.0; BEFORE];
        values.extend([2e6, 1.0].iter().take(flow.0.feedback().len()));
        let sent = rate_with_constant_inputs(&flow, values);
        assert!((sent / 2e6 - 1.0).abs() < 1e-6, "{name}: {sent}");
        seen.push(name);
    }
    seen
}

/// A router with the load and the queue of its declared equilibrium is in equilibrium. Returns the protocols that declare one.
///
/// # Panics
/// It is not so.
#[must_use]
pub fn a_router_with_constant_load_and_queue_reaches_its_equilibrium(laws: &Laws) -> Vec<&'static str> {
    let mut seen = Vec::new();
    for (name, model) in models(laws) {
        let Some(router) = RouterPiece::of(&*model) else { continue };
        let equilibrium = router.links.equilibrium(0);
        let (Some(queue), false) = (equilibrium.queue, router.links.ticks(0)) else { continue };
        let values = link_inputs_of(&router, equilibrium.utilization * LOOP.capacity, queue);
        let states = router.states();
        let x = settle(&states, |x| router.value(&[x, &values].concat()));
        let derivatives = router.value(&[x.clone(), values].concat());
        for ((dx, x), state) in derivatives.iter().zip(&x).zip(&states) {
            assert!(dx.abs() <= 1e-6 * x.abs().max(1.0), "{name}: {} changes by {dx} at {x}", state.name);
        }
        seen.push(name);
    }
    seen
}

/// The inputs of a link from five flows over 100 ms.
fn link_inputs_of(router: &RouterPiece, arriving: f64, queue: f64) -> Vec<f64> {
    let rtt = LOOP.base_rtt;
    let carried = router.carried.iter().map(|unit| match *unit {
        "bit" => arriving * rtt,
        "s" => 5.0 * rtt,
        _ => 5.0,
    });
    [arriving, arriving, queue].into_iter().chain(carried).collect()
}
