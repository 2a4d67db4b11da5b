//! Why a guest ended a run.

use millpond_units::Time;
use std::error::Error;
use std::fmt;

/// The part of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The law at the sender.
    Sender,
    /// The law at a link.
    Link,
    /// The law at the receiver.
    Receiver,
    /// Its equations.
    Fluid,
}

impl Part {
    /// As messages name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Link => "link",
            Self::Receiver => "receiver",
            Self::Fluid => "fluid model",
        }
    }
}

/// The exception or the value without meaning with which a guest ended its run.
#[derive(Debug)]
pub struct Failure {
    /// Name of the law.
    pub law: &'static str,
    /// Which of its parts.
    pub part: Part,
    /// The event, as the guest's function is called (`on_ack`).
    pub event: &'static str,
    /// The simulated time of the event.
    pub time: Time,
    /// What happened.
    pub message: String,
    /// The exception, if the guest raised one.
    pub cause: Option<Box<dyn Error + Send + Sync>>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, part, event, time, message, .. } = self;
        write!(f, "law \"{law}\", {} {event} at {} s: {message}", part.name(), time.secs())
    }
}

impl Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_law_part_event_and_simulated_time() {
        let failure = Failure {
            law: "tortoise",
            part: Part::Sender,
            event: "on_ack",
            time: Time::from_secs(1.25),
            message: "ZeroDivisionError: division by zero".into(),
            cause: None,
        };
        let expected = "law \"tortoise\", sender on_ack at 1.25 s: ZeroDivisionError: division by zero";
        assert_eq!(failure.to_string(), expected);
    }
}
