//! The history of the channels, as the right-hand side reads it.

use crate::delays::NO_DELAY;

/// The history of the channels.
pub(crate) trait ChannelHistory {
    /// The value of a channel one delay ago; `delay` is an index into [`DelayTable::delays`](crate::delays::DelayTable).
    fn get(&self, channel: usize, delay: usize) -> f64;

    /// The value of a channel any number of seconds ago, above zero.
    fn earlier(&self, channel: usize, seconds: f64) -> f64;
}

/// A history in which all channels are constant.
pub(crate) struct ConstantHistory<'a>(pub(crate) &'a [f64]);

impl ChannelHistory for ConstantHistory<'_> {
    fn get(&self, channel: usize, _delay: usize) -> f64 {
        self.0[channel]
    }

    fn earlier(&self, channel: usize, _seconds: f64) -> f64 {
        self.0[channel]
    }
}

/// The value of a channel one delay ago; with [`NO_DELAY`], the present value.
pub(crate) fn channel_at(history: &impl ChannelHistory, now: &[f64], channel: usize, delay: usize) -> f64 {
    if delay == NO_DELAY { now[channel] } else { history.get(channel, delay) }
}
