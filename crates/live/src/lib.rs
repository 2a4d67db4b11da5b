//! Real packets through the links of the simulator: `millpond link` runs a command behind an emulated link.
//!
//! ```text
//!   network namespace of the command          this process              outside: the caller's network,
//!                                                                        or a namespace with a second command
//!   command --> TUN device  -->  Direction "up": laws, queue, loss, delay  -->  TUN device
//!   command <-- TUN device  <--  Direction "down"                          <--  TUN device
//! ```
//!
//! A [`Direction`] is the link of the simulator with the bytes of the packets. It uses neither devices nor clocks: the
//! emulator, which is one thread, passes the times of the clock. Queue, marks and drops are computed at the exact times of
//! the departures, so that they do not depend on when the thread wakes up.
//!
//! The live world of a scenario is the network of the packet world whose hosts and links exchange lab datagrams
//! (`docs/wire.md`): `lab` turns frames into datagrams without clock and socket, [`LiveDriver`] moves them between UDP sockets
//! at the times of the clock.

mod direction;
mod ip;
mod lab;
mod live_error;
mod options;
mod pcapng;
mod refusals;
mod request;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

pub use direction::{Delivered, Direction};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{LiveDriver, run_inside};
pub use lab::{SenderCapture, SenderCaptures};
#[cfg(target_os = "linux")]
pub use linux::{LiveDriver, run_inside};
pub use live_error::LiveError;
pub use options::LinkOptions;
pub use refusals::check_live;
pub use request::{LinkCapture, LinkError, LinkRun};
