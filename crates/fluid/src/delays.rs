//! The delay of each look-up in the history of channels. Equal delays share one index, so that the history is searched
//! once per distinct delay.

use crate::assembly::Assembly;

/// Index of the delay zero, which reads the present value.
pub(crate) const NO_DELAY: usize = 0;

/// Delay indices of one hop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HopDelays {
    /// From the sender to the link.
    pub(crate) forward: usize,
    /// From the link to the sender.
    pub(crate) backward: usize,
    /// From the link to the end of the loop.
    pub(crate) onward: usize,
}

/// Delay indices of one loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopDelays {
    /// The base round-trip time.
    pub(crate) rtt: usize,
    /// From the sender to the end of the loop.
    pub(crate) forward: usize,
}

/// All distinct delays, and the index of the delay of each look-up.
pub(crate) struct DelayTable {
    /// Distinct delays in ascending order, in seconds; the first is zero.
    pub(crate) delays: Vec<f64>,
    /// In the order of [`Assembly::hops`].
    pub(crate) hops: Vec<HopDelays>,
    pub(crate) loops: Vec<LoopDelays>,
    /// From each relay back to the sender of its upstream loop.
    pub(crate) relays: Vec<usize>,
}

impl DelayTable {
    pub(crate) fn new(asm: &Assembly) -> Self {
        let mut delays: Vec<f64> =
            std::iter::once(0.0).chain(asm.delays()).chain(onward_delays(asm)).collect();
        delays.sort_by(f64::total_cmp);
        delays.dedup();
        let index = |delay: f64| delays.partition_point(|known| *known < delay);
        let mut hops = Vec::with_capacity(asm.hops.len());
        for l in 0..asm.loops.len() {
            hops.extend(asm.hops_of(l).iter().zip(asm.onward_delays(l)).map(|(hop, onward)| HopDelays {
                forward: index(hop.forward),
                backward: index(hop.backward),
                onward: index(onward),
            }));
        }
        let loop_subsystem =
            |l: usize| LoopDelays { rtt: index(asm.loops[l].base_rtt), forward: index(asm.forward_delay(l)) };
        let loops = (0..asm.loops.len()).map(loop_subsystem).collect();
        let relays = asm.relays.iter().map(|relay| index(asm.return_delay(relay))).collect();
        Self { delays, hops, loops, relays }
    }
}

fn onward_delays(asm: &Assembly) -> impl Iterator<Item = f64> + '_ {
    (0..asm.loops.len()).flat_map(|l| asm.onward_delays(l))
}

impl Assembly {
    /// Delay in seconds from the sender of a loop to its end with empty queues: to its relay, or to its last link.
    pub(crate) fn forward_delay(&self, loop_index: usize) -> f64 {
        match self.loops[loop_index].end_relay {
            Some(relay) => self.relays[relay].forward,
            None => self.hops_of(loop_index).last().map_or(0.0, |hop| hop.forward),
        }
    }
}
