//! From the subsystems of a network to a linear system with delays.

use super::system::{Block, BlockInput, BlockOutput, Connection, System};
use crate::assembly::Entity;
use crate::frozen::{Frozen, OperatingPoint};
use crate::subsystems::Subsystem;
use nalgebra::DMatrix;
use std::collections::BTreeMap;

/// The linearization of a network about an operating point, and the owner of each block.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearized {
    /// The linear system.
    pub system: System,
    /// The owner of each block.
    pub owners: Vec<Entity>,
}

impl Linearized {
    /// Linearizes a network. States held at a bound and states with a constant derivative of zero are parameters and
    /// are left out, as are inputs without effect.
    #[must_use]
    pub fn of(frozen: &Frozen<'_>, point: &OperatingPoint) -> Self {
        Self::of_subsystems(&frozen.subsystems(point), point)
    }

    /// The network that consists of these subsystems.
    pub(super) fn of_subsystems(subsystems: &[Subsystem], point: &OperatingPoint) -> Self {
        let mut source = BTreeMap::new();
        for (block, subsystem) in subsystems.iter().enumerate() {
            let outputs = subsystem.outputs.iter().enumerate();
            source.extend(outputs.map(|(output, channel)| (*channel, BlockOutput::new(block, output))));
        }
        let mut system = System::default();
        for (index, subsystem) in subsystems.iter().enumerate() {
            let (block, inputs) = reduce(subsystem, point);
            for (input, (place, gain)) in subsystem.inputs.iter().zip(inputs) {
                let known = source.get(&input.channel).filter(|_| gain != 0.0);
                if let Some(&from) = known {
                    system.connections.push(Connection {
                        from,
                        to: BlockInput::new(index, place),
                        gain,
                        delay: input.delay,
                    });
                }
            }
            system.blocks.push(block);
        }
        Self { system, owners: subsystems.iter().map(|subsystem| subsystem.entity).collect() }
    }

    /// The same system with additional queueing delays in seconds, by link. Rates reach a link later by the queues
    /// before it. Signals of a link, which are carried by departing packets, reach the senders later by the queues
    /// after it.
    #[must_use]
    pub fn with_queueing_delays(mut self, frozen: &Frozen<'_>, with_queueing_delays: &[f64]) -> Self {
        let owners = &self.owners;
        let between = |l: usize, first: Option<usize>, last: Option<usize>| -> f64 {
            let links: Vec<usize> = frozen.asm.hops_of(l).iter().map(|hop| hop.link).collect();
            let place = |link: usize| links.iter().position(|known| *known == link);
            let (first, last) = (first.and_then(place).map(|place| place + 1), last.and_then(place));
            let (first, last) = (first.unwrap_or(0), last.unwrap_or(links.len()));
            links.get(first..last).unwrap_or_default().iter().map(|link| with_queueing_delays[*link]).sum()
        };
        let upstream = |relay: usize| frozen.asm.relays[relay].upstream.0;
        for connection in &mut self.system.connections {
            connection.delay += match (owners[connection.from.block], owners[connection.to.block]) {
                (Entity::Loop(l), Entity::Link(link)) => between(l, None, Some(link)),
                (Entity::Link(link), Entity::Loop(l)) => between(l, Some(link), None),
                (Entity::Loop(l), Entity::Relay(r)) if upstream(r) == l => between(l, None, None),
                (Entity::Link(link), Entity::Relay(r)) => between(upstream(r), Some(link), None),
                (Entity::Loop(l), Entity::Loop(own)) if l == own => between(l, None, None),
                _ => 0.0,
            };
        }
        self
    }

    /// A loop that receives no variable feedback from a link or from another loop of its chain: it has no bottleneck.
    #[must_use]
    pub fn loop_without_feedback(&self) -> Option<usize> {
        let varies = |&BlockOutput { block, output }: &BlockOutput| {
            let subsystem = &self.system.blocks[block];
            subsystem.is_link
                && subsystem
                    .c
                    .row(output)
                    .iter()
                    .chain(subsystem.d.row(output).iter())
                    .any(|entry| *entry != 0.0)
        };
        self.owners.iter().enumerate().find_map(|(block, owner)| {
            let Entity::Loop(l) = owner else { return None };
            let mut inputs = self.system.connections.iter().filter(|connection| connection.to.block == block);
            let of_a_chain = |from: usize| match self.owners[from] {
                Entity::Loop(other) => other != *l,
                owner => matches!(owner, Entity::Relay(_)),
            };
            (!inputs.any(|connection| varies(&connection.from) || of_a_chain(connection.from.block)))
                .then_some(*l)
        })
    }

    /// The links whose inputs are part of a loop: the bottlenecks of the linear system.
    #[must_use]
    pub fn bottlenecks(&self) -> Vec<usize> {
        let cuts = super::Characteristic::new(&self.system).cut_blocks();
        let link = |block: &usize| match self.owners[*block] {
            Entity::Link(link) => Some(link),
            _ => None,
        };
        let mut links: Vec<usize> = cuts.iter().filter_map(link).collect();
        links.sort_unstable();
        links.dedup();
        links
    }
}

/// The states of a subsystem that are not held at a bound and have a derivative that varies.
pub(super) fn varying_states(subsystem: &Subsystem, point: &OperatingPoint) -> Vec<usize> {
    let moves = |i: usize| subsystem.a[i].iter().chain(&subsystem.b[i]).any(|entry| *entry != 0.0);
    (0..subsystem.states.len()).filter(|&i| moves(i) && !point.is_held(subsystem.states[i])).collect()
}

/// The effect of an input: its columns of B (for these states) and of D.
pub(super) fn effect(subsystem: &Subsystem, states: &[usize], input: usize) -> Vec<f64> {
    let on_states = states.iter().map(|&state| subsystem.b[state][input]);
    on_states.chain(subsystem.d.iter().map(|row| row[input])).collect()
}

/// A subsystem without constant states; inputs with proportional effects are merged. For each original input: the
/// merged input and its gain.
fn reduce(subsystem: &Subsystem, point: &OperatingPoint) -> (Block, Vec<(usize, f64)>) {
    let free = varying_states(subsystem, point);
    let (n, outputs) = (free.len(), subsystem.outputs.len());
    let is_link = matches!(subsystem.entity, Entity::Link(_));
    let mut kept: Vec<Vec<f64>> = Vec::new();
    let mut places = Vec::new();
    for input in 0..subsystem.inputs.len() {
        let column = effect(subsystem, &free, input);
        if column.iter().all(|entry| *entry == 0.0) {
            places.push((0, 0.0));
            continue;
        }
        let same = kept
            .iter()
            .enumerate()
            .filter(|_| is_link)
            .find_map(|(place, known)| ratio(&column, known).map(|ratio| (place, ratio)));
        places.push(same.unwrap_or_else(|| {
            kept.push(column);
            (kept.len() - 1, 1.0)
        }));
    }
    let block = Block {
        a: DMatrix::from_fn(n, n, |row, column| subsystem.a[free[row]][free[column]]),
        b: DMatrix::from_fn(n, kept.len(), |row, column| kept[column][row]),
        c: DMatrix::from_fn(outputs, n, |row, column| subsystem.c[row][free[column]]),
        d: DMatrix::from_fn(outputs, kept.len(), |row, column| kept[column][n + row]),
        is_link,
    };
    (block, places)
}

/// The factor between two proportional columns; none if they are not proportional.
fn ratio(column: &[f64], known: &[f64]) -> Option<f64> {
    const SAME: f64 = 1e-12;
    let largest = (0..known.len()).max_by(|a, b| known[*a].abs().total_cmp(&known[*b].abs()))?;
    let ratio = column[largest] / known[largest];
    let differs = |(a, b): (&f64, &f64)| (a - ratio * b).abs() > SAME * a.abs().max((ratio * b).abs());
    (ratio != 0.0 && !column.iter().zip(known).any(differs)).then_some(ratio)
}
