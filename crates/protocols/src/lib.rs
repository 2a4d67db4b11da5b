//! Every protocol is one folder here and one line in `PROTOCOLS`; every queue one folder in `queues/` and one
//! line in `QUEUES`. Protocols never import each other; what two of them share lives in `parts/`.

pub mod abc;
pub mod acp;
pub mod bbr1;
pub mod bbr3;
pub mod cltcp;
pub mod copa;
pub mod cubic;
pub mod dctcp;
pub mod hpcc;
pub mod ledbatpp;
pub mod lgc;
pub mod lgcc;
pub mod mcp;
pub mod newreno;
pub mod paganini;
pub mod parts;
pub mod pledge;
pub mod prague;
pub mod queues;
pub mod rcp;
pub mod sprout;
pub mod swift;
pub mod timely;
pub mod vcp;
pub mod vegas;
pub mod xcp;

/// Benches for the tests of single laws.
#[cfg(test)]
mod testing {
    pub(crate) use millpond_conformance::bench::*;
}

use millpond_law::{Protocol, Queue};
use millpond_units::nearest;

/// One line per protocol.
#[rustfmt::skip]
static PROTOCOLS: &[&dyn Protocol] = &[
    &newreno::NewReno,
    &cubic::Cubic,
    &bbr1::Bbr1,
    &bbr3::Bbr3,
    &dctcp::Dctcp,
    &prague::Prague,
    &lgcc::Lgcc,
    &lgc::Lgc,
    &abc::Abc,
    &xcp::Xcp,
    &rcp::Rcp,
    &vcp::Vcp,
    &vegas::Vegas,
    &swift::Swift,
    &timely::Timely::PUBLISHED,
    &timely::Timely::PATCHED,
    &hpcc::Hpcc,
    &copa::Copa,
    &sprout::Sprout,
    &ledbatpp::LedbatPlusPlus,
    &acp::Acp,
    &mcp::Mcp,
    &cltcp::Cltcp,
    &pledge::Pledge,
    &paganini::PaganiniMarks,
    &paganini::PaganiniDelay,
];

/// One line per queue.
#[rustfmt::skip]
static QUEUES: &[&dyn Queue] = &[
    &queues::droptail::DropTail,
    &queues::red::Red,
    &queues::codel::CoDel,
    &queues::pie::Pie,
    &queues::rem::Rem,
    &queues::cobalt::Cobalt,
    &queues::fq_codel::FqCoDel,
    &queues::fq_pie::FqPie,
    &queues::dualpi2::DualPi2,
    &queues::l4s_step::L4sStep,
    &queues::shaper::Shaper,
    &queues::policer::Policer,
];

/// The protocols and queues that a scenario may name.
#[derive(Clone)]
pub struct Registry {
    protocols: Vec<&'static dyn Protocol>,
    queues: Vec<&'static dyn Queue>,
}

/// A name that no registered protocol or queue has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The requested name.
    pub name: String,
    /// All registered names.
    pub known: Vec<&'static str>,
    /// The nearest of them, if any is near.
    pub nearest: Option<&'static str>,
}

impl Registry {
    /// The protocols and queues of Millpond.
    pub fn builtin() -> Self {
        Self { protocols: PROTOCOLS.to_vec(), queues: QUEUES.to_vec() }
    }

    /// The same with one more protocol, such as one from a crate of your own; it replaces one of the same name.
    #[must_use]
    pub fn with(mut self, protocol: &'static dyn Protocol) -> Self {
        self.protocols.retain(|p| p.card().name != protocol.card().name);
        self.protocols.push(protocol);
        self
    }

    /// The same with one more queue; it replaces one of the same name.
    #[must_use]
    pub fn with_queue(mut self, queue: &'static dyn Queue) -> Self {
        self.queues.retain(|q| q.card().name != queue.card().name);
        self.queues.push(queue);
        self
    }

    /// Every protocol, in the order of registration.
    pub fn protocols(&self) -> impl Iterator<Item = &'static dyn Protocol> {
        self.protocols.iter().copied()
    }

    /// Every queue, in the order of registration.
    pub fn queues(&self) -> impl Iterator<Item = &'static dyn Queue> {
        self.queues.iter().copied()
    }

    /// The protocol of this name.
    pub fn protocol(&self, name: &str) -> Result<&'static dyn Protocol, Unknown> {
        let found = self.protocols().find(|p| p.card().name == name);
        found.ok_or_else(|| unknown(name, self.protocols().map(|p| p.card().name)))
    }

    /// The queue of this name.
    pub fn queue(&self, name: &str) -> Result<&'static dyn Queue, Unknown> {
        let found = self.queues().find(|q| q.card().name == name);
        found.ok_or_else(|| unknown(name, self.queues().map(|q| q.card().name)))
    }
}

fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Unknown {
    let known: Vec<_> = known.collect();
    Unknown { name: name.to_owned(), nearest: nearest(name, known.iter().copied()), known }
}
