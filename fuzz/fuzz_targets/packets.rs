//! Bytes select a valid scenario of the packet world, in which all invariants hold.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millpond_attack::attack_bytes;
use millpond_protocols::Registry;
use millpond_results::World;

fuzz_target!(|bytes: &[u8]| {
    if let Err(failure) = attack_bytes(bytes, World::Packets, &Registry::builtin()) {
        panic!("{}", failure.1);
    }
});
