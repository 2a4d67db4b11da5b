//! Namespaces, devices, sockets and the thread between them: the part of this crate that needs Linux.

mod addresses;
mod batch;
mod capture;
mod channel;
mod clock;
mod device;
mod emulator;
mod inside;
mod loopback;
mod netlink;
mod run;
mod summary;
mod sys;
mod world;

pub use inside::run_inside;
pub use world::LiveDriver;
