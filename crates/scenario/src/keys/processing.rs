//! `[hosts]` and `[routers]`: random processing times, which remove phase effects (S. Floyd and V. Jacobson, "On Traffic
//! Phase Effects in Packet-Switched Gateways", Internetworking: Research and Experience 3(3), 1992).

use crate::model::Processing;
use crate::table::{Form, KeyTable, Rule, ScenarioKey, put};
use millpond_units::Span;

const JITTER: Form = Form::Span { least: Span::ZERO, most: Processing::LONGEST };

/// The keys of `[hosts]`.
pub(crate) static HOSTS: KeyTable<Processing> = KeyTable {
    name: "hosts table",
    blank: Processing::default,
    plain: None,
    keys: &[ScenarioKey {
        name: "jitter",
        form: JITTER,
        rule: Rule::Absent(
            "for each flow the time in which the slowest link of its path, at its highest rate, serves one packet, \
             at most 1 s",
        ),
        meaning: "a sending host handles each acknowledgement and each timer after a random time, uniform between \
                  zero and this. Acknowledgements stay in order, and a pacing rate stays exact. `\"0s\"`: hosts and \
                  routers are strictly periodic",
        read: |hosts, written| written.store(&mut hosts.jitter),
        write: |hosts| hosts.jitter.as_ref().and_then(put),
    }],
};

/// The keys of `[routers]`.
pub(crate) static ROUTERS: KeyTable<Processing> = KeyTable {
    name: "routers table",
    blank: Processing::default,
    plain: None,
    keys: &[ScenarioKey {
        name: "jitter",
        form: JITTER,
        rule: Rule::Absent(
            "the time in which the next link, at its highest rate, serves the packet; `\"0s\"` if `hosts.jitter` is \
             `\"0s\"`",
        ),
        meaning: "a router forwards each packet to the next link after a random time, uniform between zero and \
                  this. Packets of a flow stay in order",
        read: |routers, written| written.store(&mut routers.jitter),
        write: |routers| routers.jitter.as_ref().and_then(put),
    }],
};
