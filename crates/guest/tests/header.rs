//! The structures of `include/millpond.h` have the same layout for a C compiler and for the crate.

use millpond_guest::RawPermit;
use millpond_guest::abi::{
    PARAMETERS, RawAck, RawCongestion, RawContext, RawEcho, RawHeader, RawLaw, RawLink, RawPacket, RawQueue,
    RawReceiver, RawSender, RawStart, VERSION,
};
use std::fmt::Write;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

/// `(type, size, [(field, offset)])` of each structure.
type Layout = (&'static str, usize, Vec<(&'static str, usize)>);

macro_rules! layout {
    ($type:ident, $name:literal: $($field:ident),+) => {
        ($name, size_of::<$type>(), vec![$((stringify!($field), offset_of!($type, $field))),+])
    };
}

/// A table: its first field holds `version` and `struct_bytes`.
macro_rules! table {
    ($type:ident, $name:literal: $($field:ident),+) => {{
        let (name, size, mut fields) = layout!($type, $name: $($field),+);
        fields.extend([("version", offset_of!($type, table.version)), ("struct_bytes", offset_of!($type, table.struct_bytes))]);
        (name, size, fields)
    }};
}

fn layouts() -> Vec<Layout> {
    vec![
        layout!(RawContext, "millpond_context": now_s, sample, parameters),
        layout!(RawPermit, "millpond_permit": window_bytes, pace_bps, quantum_bytes, feedback_within_s, wake_s),
        layout!(RawHeader, "millpond_header": length, bytes),
        layout!(RawStart, "millpond_start": packet_bytes, capacity_bps, weight),
        layout!(RawAck, "millpond_ack": bytes, packets, rtt_s, min_rtt_s, smoothed_rtt_s, in_flight_bytes,
            prior_in_flight_bytes, ce_packets, ce_bytes, delivered_bytes, prior_delivered_bytes, delivery_rate_bps,
            round, newly_lost_bytes, lost_bytes, app_limited, limited_by, window_unused, header),
        layout!(RawCongestion, "millpond_congestion": cause, is_new_episode, bytes, in_flight_bytes,
            prior_in_flight_bytes),
        layout!(RawPacket, "millpond_packet": bytes, is_data, ecn, header),
        layout!(RawQueue, "millpond_queue": capacity_bps, bytes, packets, head_sojourn_s),
        layout!(RawEcho, "millpond_echo": header, mark),
        table!(RawSender, "millpond_sender": state_bytes, on_start, on_ack, on_congestion, on_timer, on_capacity,
            header),
        table!(RawLink, "millpond_link": state_bytes, on_arrival, on_departure, on_tick),
        table!(RawReceiver, "millpond_receiver": state_bytes, on_data),
        table!(RawLaw, "millpond_law": sender, link, receiver, error_text),
    ]
}

/// A C program whose compilation fails if a size or an offset differs.
fn program() -> String {
    let mut text = String::from("#include <stddef.h>\n#include \"millpond.h\"\n");
    let mut check = |condition: String| {
        let _ = writeln!(text, "_Static_assert({condition}, \"{condition}\");");
    };
    check(format!("MILLPOND_VERSION == {VERSION}"));
    check(format!("MILLPOND_PARAMETERS == {PARAMETERS}"));
    check(format!("MILLPOND_HEADER_BYTES == {}", millpond_law::HEADER_BYTES));
    for (name, size, fields) in layouts() {
        check(format!("sizeof({name}) == {size}"));
        for (field, offset) in fields {
            check(format!("offsetof({name}, {field}) == {offset}"));
        }
    }
    text
}

#[test]
fn a_c_compiler_and_this_crate_agree_on_every_structure() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = std::env::temp_dir().join(format!("millpond-header-{}.c", std::process::id()));
    std::fs::write(&source, program()).unwrap();
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I"])
        .arg(root.join("include"))
        .arg(&source)
        .output();
    std::fs::remove_file(&source).unwrap();
    match compiled {
        Ok(compiled) => assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr)),
        // The linker of Rust is usually a C compiler, so that this is rare.
        Err(error) => eprintln!("skipped: there is no C compiler `cc` ({error})"),
    }
}
