//! Receivers accept any bytes, and echo only their own header.

use crate::{Laws, any, corners, for_all};
use millpond_law::{Context, Echo, HeaderId, Random};
use millpond_units::Time;
use proptest::prelude::*;

/// Receivers accept any bytes, and echo only their own header.
///
/// # Panics
/// It is not so.
pub fn for_any_bytes_the_echo_has_the_receivers_header_or_is_unchanged(laws: &Laws) {
    let arrivals = prop::collection::vec((any::step(), any::data(), any::optional(any::relay())), 1..40);
    for protocol in laws.protocols() {
        for settings in corners(protocol.card().parameters) {
            let Ok(_) = protocol.receiver(&settings) else { continue };
            let own = protocol.needs(&settings).header;
            for_all(16, &arrivals, |arrivals| {
                let mut receiver = protocol.receiver(&settings).unwrap();
                let (mut random, mut now, mut echo) =
                    (Random::stream(1, "receiver"), Time::ZERO, Echo::default());
                for (after, data, relay) in arrivals {
                    now += after;
                    let mut cx = Context { now, random: &mut random };
                    receiver.on_data(&mut cx, &data, relay.as_ref(), &mut echo);
                    let echoed = echo.header.protocol();
                    assert!([HeaderId::NONE, own, data.header.protocol()].contains(&echoed));
                }
            });
        }
    }
}
