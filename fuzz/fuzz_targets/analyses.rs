//! Bytes select a valid scenario of the fluid world, whose equilibrium and stability are found, or refused with a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millpond_attack::analyze_bytes;
use millpond_protocols::Registry;

fuzz_target!(|bytes: &[u8]| {
    if let Err(failure) = analyze_bytes(bytes, &Registry::builtin()) {
        panic!("{}", failure.1);
    }
});
