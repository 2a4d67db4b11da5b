//! Namespaces, devices and the thread between them: the part of this crate that needs Linux.

mod addresses;
mod capture;
mod channel;
mod clock;
mod device;
mod emulator;
mod inside;
mod netlink;
mod run;
mod summary;
mod sys;

pub use inside::run_inside;
