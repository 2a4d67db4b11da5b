//! Arbitrary bytes are refused with an error, or give a trace whose statistics are finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millpond_scenario::trace::Trace;

fuzz_target!(|bytes: &[u8]| {
    match Trace::parse(bytes, "fuzz.trace", None) {
        Ok(trace) => assert!(trace.stats().variation.iter().all(|x| x.is_finite())),
        Err(fault) => assert!(!fault.message().is_empty()),
    }
});
