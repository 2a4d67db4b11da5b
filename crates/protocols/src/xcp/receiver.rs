//! The receiver of XCP: adds up what the routers granted.

use super::header::{Wish, XcpEcho, XcpHeader};
use millpond_law::{Context, Data, Echo, Receiver, RelayView, Unread};

/// See the module. The sum runs on, so that delayed and lost acknowledgements lose no feedback.
#[derive(Default)]
pub(super) struct XcpReceiver {
    feedback: i64,
    unread: Unread,
}

impl Receiver for XcpReceiver {
    /// A packet that no router has written to says nothing.
    fn on_data(&mut self, _cx: &mut Context<'_>, data: &Data, _relay: Option<&RelayView>, echo: &mut Echo) {
        if let Some(Wish::Change(bps)) =
            self.unread.note(XcpHeader::parse(&data.header)).map(|header| header.wish())
        {
            self.feedback = self.feedback.wrapping_add(bps);
        }
        XcpEcho::new(self.feedback).emit(&mut echo.header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::{Ecn, Header, Random};
    use millpond_units::{Bytes, Rate, Span, Time};

    #[test]
    fn feedback_adds_up_and_what_no_router_wrote_adds_nothing() {
        let (mut receiver, mut echo) = (XcpReceiver::default(), Echo::default());
        let mut random = Random::stream(1, "receiver");
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        for wish in [Wish::Change(700), Wish::Any, Wish::Change(-1000)] {
            let mut written = XcpHeader::new(Span::from_millis(80), Rate::from_mbps(1.0));
            written.set_wish(wish);
            let mut header = Header::NONE;
            written.emit(&mut header);
            let data = Data { bytes: Bytes::new(1000), ecn: Ecn::NotCapable, header };
            receiver.on_data(&mut cx, &data, None, &mut echo);
        }
        assert_eq!(XcpEcho::parse(&echo.header).map(|echo| echo.feedback()), Some(-300));
    }
}
