//! Real packets through the links of the simulator: `millpond link` runs a command behind an emulated link.
//!
//! ```text
//!   network namespace of the command          this process              outside: the caller's network,
//!                                                                        or a namespace with a second command
//!   command --> TUN device  -->  Direction "up": laws, queue, loss, delay  -->  TUN device
//!   command <-- TUN device  <--  Direction "down"                          <--  TUN device
//! ```
//!
//! A [`Direction`] knows neither devices nor clocks; it is the link of the simulator with the bytes of the packets. The
//! emulator, one thread, gives it the times of the clock. Queue, marks and drops are computed at the exact times of the
//! departures, so that they do not depend on when the thread wakes up.

#[cfg(not(target_os = "linux"))]
compile_error!("the live world needs network namespaces and TUN devices, which only Linux has");

mod addresses;
mod capture;
mod channel;
mod clock;
mod device;
mod direction;
mod emulator;
mod inside;
mod ip;
mod netlink;
mod options;
mod run;
mod summary;
mod sys;

pub use direction::{Delivered, Direction};
pub use inside::run_inside;
pub use options::LinkOptions;
pub use run::{LinkError, LinkRun};
