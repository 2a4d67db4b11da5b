//! Applications that wait for data or follow the rate of their flow, as a scenario describes them.

use crate::distribution::{Lasting, Size};
use millpond_units::{Bytes, Rate, Span, Time};

/// A browser that loads one page after the other. The defaults of its keys are the HTTP traffic model of 3GPP TR 25.892.
#[derive(Clone, Debug, PartialEq)]
pub struct WebPages {
    /// The object that names all others.
    pub first: Size,
    /// How many others there are.
    pub objects: ObjectCount,
    /// The size of each of these.
    pub object: Size,
    /// The time from the arrival of the first object to the requests of the others.
    pub parse: Lasting,
    /// The time from the last byte of a page to the beginning of the next one.
    pub think: Lasting,
    /// Round trips before the first request of a connection.
    pub handshakes: u32,
}

/// The number of objects of a page beside the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObjectCount {
    /// Always the same.
    Constant(u32),
    /// The excess over `least` of a Pareto distributed number, cut off at `most` and rounded.
    Pareto {
        /// The smallest number.
        least: u32,
        /// The shape.
        shape: f64,
        /// The greatest number.
        most: u32,
    },
}

/// A video of which each flow's viewer chooses the bitrate by its buffer (BBA-0, Huang et al., SIGCOMM 2014).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdaptiveVideo {
    /// The bitrates, ascending.
    pub ladder: Vec<Rate>,
    /// How long a segment plays.
    pub segment: Span,
    /// The most playback time in the buffer.
    pub buffer: Span,
    /// Up to this buffer the least bitrate is chosen.
    pub reservoir: Span,
    /// From reservoir and cushion on the greatest bitrate is chosen.
    pub cushion: Span,
    /// Round trips before the first request.
    pub handshakes: u32,
}

/// A live video encoder (RFC 8593, section 5).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VideoCall {
    /// Least and greatest output rate.
    pub range: (Rate, Rate),
    /// Frames per second.
    pub frames_per_s: f64,
    /// For how long after a change of its rate the encoder ignores requests.
    pub reaction: Span,
    /// Number of frames of a transient.
    pub burst_frames: u32,
    /// Size of the first frame of a transient.
    pub burst_size: Bytes,
    /// The least size of the other frames of a transient, relative to the mean size.
    pub least_share: f64,
    /// Scale of the deviations of frame intervals.
    pub interval_scale: f64,
    /// Scale of the deviations of frame sizes.
    pub size_scale: f64,
    /// The relative change of the rate above which a transient begins.
    pub abrupt: f64,
    /// From when until when no frames are produced, in the order of time.
    pub pauses: Vec<(Time, Time)>,
}
