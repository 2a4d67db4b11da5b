//! The XCP receiver: sums the feedback of the routers.

use super::header::{ThroughputChange, XcpEcho, XcpHeader};
use millpond_law::{Context, Data, Echo, Receiver, RelayView, Unread};

/// The XCP receiver's state. The sum is cumulative, so that delayed and lost acknowledgements lose no feedback.
#[derive(Default)]
pub(super) struct XcpReceiver {
    feedback: i64,
    unread: Unread,
}

impl Receiver for XcpReceiver {
    /// A packet without a router's feedback adds nothing.
    fn on_data(&mut self, _cx: &mut Context<'_>, data: &Data, _relay: Option<&RelayView>, echo: &mut Echo) {
        if let Some(ThroughputChange::Limited(bps)) =
            self.unread.note(XcpHeader::parse(&data.header)).map(|header| header.change())
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
    fn feedback_is_summed_and_packets_without_feedback_add_nothing() {
        let (mut receiver, mut echo) = (XcpReceiver::default(), Echo::default());
        let mut random = Random::stream(1, "receiver");
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        for change in
            [ThroughputChange::Limited(700), ThroughputChange::Unlimited, ThroughputChange::Limited(-1000)]
        {
            let mut written = XcpHeader::new(Span::from_millis(80), Rate::from_mbps(1.0));
            written.set_change(change);
            let mut header = Header::NONE;
            written.emit(&mut header);
            let data = Data { bytes: Bytes::new(1000), ecn: Ecn::NotCapable, header };
            receiver.on_data(&mut cx, &data, None, &mut echo);
        }
        assert_eq!(XcpEcho::parse(&echo.header).map(|echo| echo.feedback()), Some(-300));
    }
}
