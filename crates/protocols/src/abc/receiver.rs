//! The ABC receiver: counts the marks.

use super::header::{AbcEcho, Counts};
use millpond_law::{Context, Data, Echo, Ecn, Receiver, RelayView};

/// The ABC receiver's state.
#[derive(Default)]
pub(super) struct AbcReceiver {
    counts: Counts,
}

impl Receiver for AbcReceiver {
    /// ECT(1) is an accelerate. ECT(0) is a brake, and so is CE, with which a router without ABC overwrites either.
    fn on_data(&mut self, _cx: &mut Context<'_>, data: &Data, _relay: Option<&RelayView>, echo: &mut Echo) {
        let count =
            if data.ecn == Ecn::Ect1 { &mut self.counts.accelerates } else { &mut self.counts.brakes };
        *count = count.wrapping_add(1);
        AbcEcho::new(self.counts).emit(&mut echo.header);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::{Header, Random};
    use millpond_units::{Bytes, Time};

    #[test]
    fn only_a_packet_that_arrives_as_ect1_is_an_accelerate() {
        let (mut receiver, mut echo) = (AbcReceiver::default(), Echo::default());
        let mut random = Random::stream(1, "receiver");
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::Ce, Ecn::NotCapable, Ecn::Ect1] {
            let data = Data { bytes: Bytes::new(1500), ecn, header: Header::NONE };
            receiver.on_data(&mut cx, &data, None, &mut echo);
        }
        let counts = AbcEcho::parse(&echo.header).map(|echo| echo.counts());
        assert_eq!(counts, Some(Counts { accelerates: 2, brakes: 3 }));
    }
}
