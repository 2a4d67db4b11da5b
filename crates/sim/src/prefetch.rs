//! Requests of memory before it is read.
//!
//! From about a hundred flows on, most of the time of a hop is spent waiting for the event, the packet, and the link or the
//! end that the packet reaches. Their order is that of time, which a processor cannot predict, but the event queue has it.

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// Requests all cache lines of a value, if there is one. The program continues meanwhile; nothing is read or written.
#[inline(always)]
pub(crate) fn prefetch<T>(value: Option<&T>) {
    if let Some(value) = value {
        let first = std::ptr::from_ref(value).cast::<u8>();
        (0..size_of::<T>()).step_by(LINE).for_each(|offset| prefetch_line(first.wrapping_add(offset)));
    }
}

/// Requests the first cache line of a value, if there is one.
#[inline(always)]
pub(crate) fn prefetch_first_line<T>(value: Option<&T>) {
    if let Some(value) = value {
        prefetch_line(std::ptr::from_ref(value).cast());
    }
}

/// Requests one cache line.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn prefetch_line(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch is a hint. It accesses no memory as far as the program can observe, and does not fault at any
    // address; every x86-64 processor has the instruction.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// Other processors have no stable instruction for it.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch_line(_address: *const u8) {}
