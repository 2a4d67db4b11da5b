//! The VCP receiver: echoes the two load bits.

use super::header::{Load, VcpHeader};
use millpond_law::{Context, Data, Echo, Receiver, RelayView};

/// The VCP receiver.
pub(super) struct VcpReceiver;

impl Receiver for VcpReceiver {
    fn on_data(&mut self, _cx: &mut Context<'_>, data: &Data, _relay: Option<&RelayView>, echo: &mut Echo) {
        VcpHeader::new(Load::of(data.ecn)).emit(&mut echo.header);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::{Ecn, Header, Random};
    use millpond_units::{Bytes, Time};

    #[test]
    fn the_echo_is_the_latest_received_load() {
        let (mut echo, mut random) = (Echo::default(), Random::stream(1, "receiver"));
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        for (ecn, load) in [(Ecn::Ce, Load::Over), (Ecn::Ect1, Load::Low)] {
            let data = Data { bytes: Bytes::new(1000), ecn, header: Header::NONE };
            VcpReceiver.on_data(&mut cx, &data, None, &mut echo);
            assert_eq!(VcpHeader::parse(&echo.header).unwrap().load(), Some(load));
        }
    }
}
