//! LGCC as differential equations, loop by loop: Eq. (14) or (15) with the smoothed marks of the loop, and the carrying
//! capacity (10): the least of the loop's links and of what the relay says of the next loop.

use super::params::{Algorithm, EchoReading, Params, knowledge};
use crate::parts::capacity_estimate::PROBE_GAIN;
use crate::parts::logistic::Form;
use crate::parts::logistic_fluid::{self, Grower, Growth};
use millpond_law::fluid::{
    Allocation, FluidModel, FluidSender, LoopFacts, NextLoop, Number, SenderInput, Senders, State, greatest,
    least, positive, sender_piece,
};
use millpond_law::{Knowledge, SettingError, Settings};

/// A carrying capacity in bit/s is at least this.
const LEAST_CAPACITY: f64 = 1.0;

/// See the module.
pub(super) struct LgccFluid {
    growth: Growth,
    capacity: Capacity,
}

/// How the carrying capacity is found.
#[derive(Clone, Copy)]
struct Capacity {
    echo: EchoReading,
    /// In packets.
    cushion: f64,
    /// In RTTs of the next loop.
    drain: f64,
    is_told: bool,
    probe_gain: f64,
}

impl LgccFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let Params { algorithm, bases, echo, cushion, drain, upstream, minimum, .. } = Params::read(settings);
        if echo == EchoReading::WindowRate {
            let why = "the fluid world knows what the next loop sends and not the x behind its window: \
                       write echo = \"sent\", or control = \"rate\"";
            return Err(SettingError::new("echo", why));
        }
        if upstream {
            let why = "the fluid world's loops do not hear of the marks of earlier ones: write upstream = \"ignored\"";
            return Err(SettingError::new("upstream", why));
        }
        if minimum {
            let why = "in the fluid world the next loop's rate is a carrying capacity, Eq. (20), and no limit of its own: write \
                       backpressure = \"product\"";
            return Err(SettingError::new("backpressure", why));
        }
        let is_told = knowledge(settings) != Knowledge::Nothing;
        let probe_gain = settings.number(PROBE_GAIN.name);
        Ok(Self {
            growth: Growth::read(settings, Form::Deflated(bases), algorithm == Algorithm::Dual),
            capacity: Capacity { echo, cushion, drain, is_told, probe_gain },
        })
    }
}

impl FluidModel for LgccFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn Senders> {
        let cushion = self.capacity.cushion * facts.packet;
        let grower = self.growth.sender(facts);
        sender_piece(Source { grower, capacity: self.capacity, cushion, weight: facts.weight })
    }

    fn allocation(&self, facts: &LoopFacts) -> Allocation {
        self.growth.allocation(facts.capacity * facts.weight)
    }

    fn left_out(&self) -> &'static [&'static str] {
        &["the chance of marks", "timeouts"]
    }
}

struct Source {
    grower: Grower,
    capacity: Capacity,
    /// In bits.
    cushion: f64,
    weight: f64,
}

impl Source {
    /// What the relay echoes (section VI-A, with the readings of ERRATA.md).
    fn echo<T: Number>(&self, next: &NextLoop<T>) -> T {
        match self.capacity.echo {
            EchoReading::Sent => {
                let correction = (-next.backlog + self.cushion) / (next.rtt * self.capacity.drain);
                positive(next.rate + correction)
            }
            EchoReading::Pace | EchoReading::WindowRate => next.rate,
        }
    }

    /// Of the loop's own links; an estimate, what is delivered being the rate of now, if nobody tells it.
    fn links<T: Number>(&self, input: &SenderInput<'_, T>) -> T {
        if self.capacity.is_told {
            return T::from(input.capacity * self.weight);
        }
        let delivered = input.acked * (-input.lost + 1.0);
        delivered * self.capacity.probe_gain + self.grower.floor()
    }

    /// Eq. (10).
    fn carrying_capacity<T: Number>(&self, input: &SenderInput<'_, T>) -> T {
        let k = match &input.next {
            None => self.links(input),
            Some(next) if self.capacity.is_told => least(self.echo(next), self.links(input)),
            Some(next) => self.echo(next),
        };
        greatest(k, T::from(LEAST_CAPACITY))
    }
}

impl FluidSender for Source {
    const GUARDS: &'static [&'static str] =
        &[logistic_fluid::GUARDS[0], logistic_fluid::GUARDS[1], "next loop's rate less the links'"];

    fn states(&self) -> Vec<State> {
        self.grower.states()
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        self.grower.derivative(x, self.carrying_capacity(input), input, dx);
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        self.grower.rate(x, self.carrying_capacity(input), input)
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        self.grower.guards(x, self.carrying_capacity(input), guards);
        guards[2] = input.next.as_ref().map_or(T::one(), |next| self.echo(next) - self.links(input));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use crate::parts::logistic::Bases;
    use crate::testing::fluid::{PACKET, flow, inputs, marginal, near, one_loop};
    use millpond_law::Value;

    const D: f64 = 0.02;

    fn model(written: &[(&'static str, Value)]) -> LgccFluid {
        LgccFluid::read(&Settings::check(PARAMETERS, written.iter().cloned()).unwrap()).unwrap()
    }

    /// The next loop sends half of 8 Mbit/s over 10 ms.
    fn next(backlog_packets: f64) -> Vec<Option<NextLoop<f64>>> {
        vec![Some(NextLoop { rate: 4e6, backlog: backlog_packets * PACKET, rtt: 0.01 })]
    }

    #[test]
    fn in_an_interval_a_rate_moves_as_far_as_line_19_says() {
        let senders = model(&[]).sender(&one_loop(D));
        let (dx, _) = flow(&*senders, &[0.4, 5e6, 0.4], &inputs(&*senders, D, |_| {}));
        let step = Bases::new(10.0, 5.0).step(5e6, 8e6, 0.4, 0.3) - 5e6;
        assert!(near(dx[1] * D, step), "{} {step}", dx[1] * D);
    }

    #[test]
    fn five_flows_rest_at_their_fifths_and_the_dual_is_there_at_once() {
        let bases = Bases::new(10.0, 5.0);
        let p = bases.equilibrium_marking(5.0);
        let primal = model(&[("control", Value::text("rate"))]);
        let senders = primal.sender(&one_loop(D));
        let (dx, _) = flow(&*senders, &[p, 1.6e6, p, p], &inputs(&*senders, D, |i| i.marked[0] = p));
        assert!(dx.iter().all(|dx| dx.abs() < 1e-6), "{dx:?}");
        let dual = model(&[("algorithm", Value::text("dual")), ("control", Value::text("rate"))]);
        let senders = dual.sender(&one_loop(D));
        assert_eq!(senders.states(0).len(), 3);
        let (_, rate) = flow(&*senders, &[p, p, p], &inputs(&*senders, D, |_| {}));
        assert!(near(rate, 1.6e6), "{rate}");
        let utility = marginal(primal.allocation(&one_loop(D)));
        assert!(near(utility.demand(-libm::log1p(-p)), 1.6e6));
        assert!(matches!(model(&[]).allocation(&one_loop(D)), Allocation::Numeric { .. }));
    }

    #[test]
    fn the_carrying_capacity_is_the_next_loops_rate_corrected_by_its_backlog() {
        // Without a mark the dual sends k: 4 Mbit/s, and two packets in eight round trips of 10 ms for each that the
        // backlog is off its cushion of two.
        let dual = [("algorithm", Value::text("dual"))];
        let senders = model(&dual).sender(&one_loop(D));
        for (backlog, k) in [(2.0, 4e6), (0.0, 4.2e6), (12.0, 3e6), (1e6, 4e6)] {
            let (_, rate) = flow(&*senders, &[0.0; 2], &inputs(&*senders, D, |i| i.next = next(backlog)));
            // A backlog that no drain can mend leaves the floor: a packet per base RTT.
            let expected = if backlog > 1e3 { PACKET / D } else { k };
            assert!(near(rate, expected), "{backlog}: {rate}");
        }
        let paced = [
            ("algorithm", Value::text("dual")),
            ("control", Value::text("rate")),
            ("echo", Value::text("x")),
        ];
        let senders = model(&paced).sender(&one_loop(D));
        let (_, rate) = flow(&*senders, &[0.0; 3], &inputs(&*senders, D, |i| i.next = next(1e6)));
        assert!(near(rate, 4e6), "x is echoed whatever waits");
    }

    #[test]
    fn who_is_told_nothing_hopes_for_twice_what_is_delivered() {
        let written = [("algorithm", Value::text("dual")), ("capacity", Value::text("estimated"))];
        let senders = model(&written).sender(&one_loop(D));
        let (_, rate) = flow(&*senders, &[0.0; 2], &inputs(&*senders, D, |i| i.acked[0] = 1e6));
        assert!(near(rate, 2e6 + PACKET / D), "{rate}");
    }

    #[test]
    fn what_the_equations_do_not_have_is_refused_by_name() {
        for (name, word) in [("echo", "x"), ("upstream", "weights"), ("backpressure", "minimum")] {
            let settings = Settings::check(PARAMETERS, [(name, Value::text(word))]).unwrap();
            let fault = LgccFluid::read(&settings).err().unwrap();
            assert!(fault.to_string().contains(name), "{fault}");
        }
    }
}
