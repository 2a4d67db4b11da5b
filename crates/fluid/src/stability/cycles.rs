//! The link inputs that are part of a loop.
//!
//! det(I + L) depends only on closed walks. An input without a closed walk adds an eigenvalue of exactly zero to L, and
//! several such inputs in a row add a Jordan block. Rounding turns a Jordan block of size k into a circle of
//! eigenvalues whose radius is the k-th root of the rounding error; such eigenvalues cannot be followed over frequency.

use super::system::{Block, BlockInput, System};

/// For each block and input: whether a disturbance there returns to it.
pub(super) fn on_cycles(system: &System) -> Vec<Vec<bool>> {
    let through: Vec<Vec<Vec<usize>>> = system.blocks.iter().map(affected_outputs).collect();
    let mut wired: Vec<Vec<Vec<BlockInput>>> =
        system.blocks.iter().map(|block| vec![Vec::new(); block.d.nrows()]).collect();
    for connection in system.connections.iter().filter(|connection| connection.gain != 0.0) {
        wired[connection.from.block][connection.from.output].push(connection.to);
    }
    let next = |BlockInput { block, input }: BlockInput| {
        let outputs = through[block][input].iter();
        outputs.flat_map(|&output| wired[block][output].iter().copied()).collect::<Vec<_>>()
    };
    let comes_back = |from: BlockInput| {
        let mut output: Vec<Vec<bool>> =
            system.blocks.iter().map(|block| vec![false; block.d.ncols()]).collect();
        let mut open = next(from);
        while let Some(BlockInput { block, input }) = open.pop() {
            if !std::mem::replace(&mut output[block][input], true) {
                open.extend(next(BlockInput::new(block, input)));
            }
        }
        output[from.block][from.input]
    };
    let inputs = |(index, block): (usize, &Block)| {
        let returns = |input| comes_back(BlockInput::new(index, input));
        (0..block.d.ncols()).map(|input| block.is_link && returns(input)).collect()
    };
    system.blocks.iter().enumerate().map(inputs).collect()
}

/// The outputs that depend on each input of a block.
fn affected_outputs(block: &Block) -> Vec<Vec<usize>> {
    let outputs = |input: usize| {
        let mut moved: Vec<bool> = block.b.column(input).iter().map(|entry| *entry != 0.0).collect();
        for _ in 0..block.states() {
            for state in 0..block.states() {
                moved[state] |= (0..block.states()).any(|by| moved[by] && block.a[(state, by)] != 0.0);
            }
        }
        let shows = |output: &usize| {
            let states = (0..block.states()).any(|state| moved[state] && block.c[(*output, state)] != 0.0);
            states || block.d[(*output, input)] != 0.0
        };
        (0..block.d.nrows()).filter(shows).collect()
    };
    (0..block.d.ncols()).map(outputs).collect()
}
