//! Laws of guests: written in another language, described at run time, and checked at every event.
//!
//! ```text
//!   Description --card--> Card, as a built-in protocol has it
//!   a callback of the guest --> RawPermit --check--> Permit
//!          \--- exception, or a value without meaning --> Failure --> Session: the run ends
//! ```
//!
//! `native` and `abi` are the same for laws as C functions, whose header is `include/millpond.h`. Laws in Python are in
//! `crates/py`.
//!
//! A built-in law cannot fail. A guest can: it raises an exception, or sets a window that is not a number. The first
//! [`Failure`] of a run is kept in its [`Session`], and the law does nothing more; whoever runs the simulation looks at
//! the session and ends the run.

pub mod abi;
mod description;
mod failure;
mod intern;
mod native;
mod permit;
mod session;

pub use description::{Declared, Description, ParameterKind, value_in_si};
pub use failure::{Failure, Part};
pub use intern::intern;
pub use native::{NativeLaw, NativeLink, NativeReceiver, NativeSender, NativeSetting};
pub use permit::{Nonsense, RawPermit, next_tick};
pub use session::Session;
