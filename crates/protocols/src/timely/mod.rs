//! TIMELY: a rate that follows the gradient of the round-trip time (R. Mittal et al., SIGCOMM 2015), and its patched form, which has a
//! fixed point (Y. Zhu, M. Ghobadi, V. Misra, J. Padhye, CoNEXT 2016).

mod fluid;
mod params;
mod rule;
mod sender;

use millpond_law::fluid::FluidModel;
use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use millpond_units::Span;
use params::Params;
use rule::RuleForm;
use sender::TimelySender;

/// One of the two forms of TIMELY as a protocol.
pub struct Timely {
    card: &'static Card,
    form: RuleForm,
}

impl Timely {
    /// The published form: the protocol `timely`.
    pub const PUBLISHED: Self = Self { card: &PUBLISHED, form: RuleForm::Published };
    /// The patched form: the protocol `timely-patched`.
    pub const PATCHED: Self = Self { card: &PATCHED, form: RuleForm::Patched };
}

const NEEDS: Needs = Needs { interface: true, ..Needs::NONE };
const QUEUE: QueueChoice = QueueChoice { name: "droptail", settings: &[] };

static PUBLISHED: Card = Card {
    name: "timely",
    title: "TIMELY",
    summary: "raises its rate while the round-trip time falls, and reduces it in proportion to the gradient while it grows",
    source: "Mittal et al., \"TIMELY: RTT-based Congestion Control for the Datacenter\", SIGCOMM 2015",
    needs: NEEDS,
    queue: QUEUE,
    parameters: params::PUBLISHED,
};

static PATCHED: Card = Card {
    name: "timely-patched",
    title: "Patched TIMELY",
    summary: "TIMELY whose reduction depends on the round-trip time itself, so that its rates have one fixed point",
    source: "Zhu, Ghobadi, Misra, Padhye, \"ECN or Delay\", CoNEXT 2016, section 4.3",
    needs: NEEDS,
    queue: QUEUE,
    parameters: params::PATCHED,
};

/// What both forms say about a path whose round-trip time without queues is above their thresholds.
fn path_warnings(params: &Params, base_rtt: Span) -> Vec<String> {
    if base_rtt < params.t_low {
        return Vec::new();
    }
    vec![format!(
        "the base round-trip time of {:.3} ms is not below t_low, {:.3} ms: thresholds of round-trip times must be above those of \
         empty queues; set t_low, t_high and min_rtt for this path",
        base_rtt.secs() * 1e3,
        params.t_low.secs() * 1e3,
    )]
}

impl Protocol for Timely {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Ok(Box::new(TimelySender::new(Params::read(settings, self.form)?)))
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(fluid::TimelyFluid(Params::read(settings, self.form)?))))
    }

    fn path_warnings(&self, settings: &Settings, base_rtt: Span) -> Vec<String> {
        let params = Params::read(settings, self.form);
        params.map_or_else(|_| Vec::new(), |params| path_warnings(&params, base_rtt))
    }
}
