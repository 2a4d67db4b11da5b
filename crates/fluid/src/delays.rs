//! Which delay each look-up has. Equal delays share one tap, so that the past is searched once for all of them.

use crate::assembly::Assembly;

/// The tap without delay: it reads the present.
pub(crate) const NO_DELAY: usize = 0;

/// Taps of one hop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HopDelays {
    /// From the sender to the link.
    pub(crate) forward: usize,
    /// From the link to the sender.
    pub(crate) backward: usize,
    /// From the link to the end of the loop.
    pub(crate) onward: usize,
}

/// Taps of one loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopDelays {
    /// A round trip without queues.
    pub(crate) rtt: usize,
    /// From the sender to the end of the loop.
    pub(crate) through: usize,
}

/// All taps.
pub(crate) struct DelayTable {
    /// In seconds, distinct; the first is zero.
    pub(crate) delays: Vec<f64>,
    /// By the place of the hop in the assembly.
    pub(crate) hops: Vec<HopDelays>,
    pub(crate) loops: Vec<LoopDelays>,
    /// From each relay back to the sender before it.
    pub(crate) relays: Vec<usize>,
}

impl DelayTable {
    pub(crate) fn new(asm: &Assembly) -> Self {
        let mut delays: Vec<f64> =
            std::iter::once(0.0).chain(asm.delays()).chain(onward_delays(asm)).collect();
        delays.sort_by(f64::total_cmp);
        delays.dedup();
        let tap = |delay: f64| delays.partition_point(|known| *known < delay);
        let mut hops = Vec::with_capacity(asm.hops.len());
        for l in 0..asm.loops.len() {
            let through = asm.through(l);
            hops.extend(asm.hops_of(l).iter().map(|hop| HopDelays {
                forward: tap(hop.forward),
                backward: tap(hop.backward),
                onward: tap(through - hop.forward),
            }));
        }
        let loop_subsystem =
            |l: usize| LoopDelays { rtt: tap(asm.loops[l].base_rtt), through: tap(asm.through(l)) };
        let loops = (0..asm.loops.len()).map(loop_subsystem).collect();
        let relays = asm.relays.iter().map(|relay| tap(asm.return_delay(relay))).collect();
        Self { delays, hops, loops, relays }
    }
}

fn onward_delays(asm: &Assembly) -> impl Iterator<Item = f64> + '_ {
    (0..asm.loops.len()).flat_map(|l| {
        let through = asm.through(l);
        asm.hops_of(l).iter().map(move |hop| through - hop.forward)
    })
}

impl Assembly {
    /// From the sender of a loop to its end without queues, in seconds: to its relay, or to its last link.
    pub(crate) fn through(&self, l: usize) -> f64 {
        match self.loops[l].end_relay {
            Some(relay) => self.relays[relay].forward,
            None => self.hops_of(l).last().map_or(0.0, |hop| hop.forward),
        }
    }
}
