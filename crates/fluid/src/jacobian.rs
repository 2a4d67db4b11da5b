//! The Jacobian of a network without delays.

use crate::frozen::{Frozen, OperatingPoint};
use nalgebra::DMatrix;

/// A matrix by rows, each with the columns and values of its entries.
#[derive(Clone)]
struct SparseRows(Vec<Vec<(usize, f64)>>);

impl SparseRows {
    fn zeros(rows: usize) -> Self {
        Self(vec![Vec::new(); rows])
    }

    /// Adds these values at a row.
    fn add(&mut self, row: usize, entries: impl Iterator<Item = (usize, f64)>) {
        self.0[row].extend(entries.filter(|(_, value)| *value != 0.0));
    }

    fn dense(&self, columns: usize) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(self.0.len(), columns);
        for (row, entries) in self.0.iter().enumerate() {
            entries.iter().for_each(|&(column, value)| dense[(row, column)] += value);
        }
        dense
    }

    /// Row `row` of this matrix times the rows of another one.
    fn row_times(&self, row: usize, other: &[Vec<f64>], sum: &mut [f64]) {
        for &(through, weight) in &self.0[row] {
            sum.iter_mut().zip(&other[through]).for_each(|(sum, value)| *sum += weight * value);
        }
    }
}

/// All subsystems together without their delays: x' = A x + B u, u = C x + D u with the channels u.
struct Direct {
    states: usize,
    a: SparseRows,
    b: SparseRows,
    c: SparseRows,
    d: SparseRows,
}

impl Direct {
    /// A + B (1 - D)^-1 C. None if 1 - D is singular.
    fn closed(&self) -> Option<DMatrix<f64>> {
        let Some(channels) = self.channels_in_order() else { return self.closed_with_loops() };
        let mut closed = self.a.dense(self.states);
        let mut row = vec![0.0; self.states];
        for state in 0..self.states {
            row.fill(0.0);
            self.b.row_times(state, &channels, &mut row);
            row.iter().enumerate().for_each(|(column, value)| closed[(state, column)] += value);
        }
        Some(closed)
    }

    /// The rows of (1 - D)^-1 C, each after those on which it depends. None if channels depend on themselves.
    fn channels_in_order(&self) -> Option<Vec<Vec<f64>>> {
        let count = self.d.0.len();
        let (mut users, mut open) = (vec![Vec::new(); count], vec![0; count]);
        for (channel, entries) in self.d.0.iter().enumerate() {
            open[channel] = entries.len();
            entries.iter().for_each(|&(from, _)| users[from].push(channel));
        }
        let mut ready: Vec<usize> = (0..count).filter(|channel| open[*channel] == 0).collect();
        let mut rows = vec![Vec::new(); count];
        let mut done = 0;
        while let Some(channel) = ready.pop() {
            let mut row = vec![0.0; self.states];
            self.c.0[channel].iter().for_each(|&(state, value)| row[state] += value);
            self.d.row_times(channel, &rows, &mut row);
            rows[channel] = row;
            done += 1;
            for &user in &users[channel] {
                open[user] -= 1;
                if open[user] == 0 {
                    ready.push(user);
                }
            }
        }
        (done == count).then_some(rows)
    }

    /// The same with a decomposition of 1 - D.
    fn closed_with_loops(&self) -> Option<DMatrix<f64>> {
        let channels = self.d.0.len();
        let rest = DMatrix::identity(channels, channels) - self.d.dense(channels);
        let solved = rest.lu().solve(&self.c.dense(self.states))?;
        Some(self.a.dense(self.states) + self.b.dense(channels) * solved)
    }
}

impl Frozen<'_> {
    /// The exact Jacobian of [`OperatingPoint::derivatives`] with all delays set to zero: `A + B (1 - D)^-1 C` of all
    /// subsystems together. None if `1 - D` is singular.
    pub fn jacobian(&self, point: &OperatingPoint) -> Option<DMatrix<f64>> {
        self.direct(point).closed()
    }

    fn direct(&self, point: &OperatingPoint) -> Direct {
        let (states, channels) = (self.asm.states.len(), self.asm.channels.count);
        let mut direct = Direct {
            states,
            a: SparseRows::zeros(states),
            b: SparseRows::zeros(states),
            c: SparseRows::zeros(channels),
            d: SparseRows::zeros(channels),
        };
        for subsystem in self.subsystems(point) {
            let of_states = |row: &[f64]| subsystem.states.iter().copied().zip(row.to_vec());
            let of_inputs =
                |row: &[f64]| subsystem.inputs.iter().map(|input| input.channel).zip(row.to_vec());
            for (row, &state) in subsystem.states.iter().enumerate() {
                direct.a.add(state, of_states(&subsystem.a[row]));
                direct.b.add(state, of_inputs(&subsystem.b[row]));
            }
            for (row, &channel) in subsystem.outputs.iter().enumerate() {
                direct.c.add(channel, of_states(&subsystem.c[row]));
                direct.d.add(channel, of_inputs(&subsystem.d[row]));
            }
        }
        for state in self.asm.credit_states().chain(self.asm.queued_states()) {
            direct.a.add(state, [(state, -1.0)].into_iter());
        }
        direct
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels, of which the second takes the first: u1 = 2 x1, u2 = 3 x2 + 5 u1, x1' = -x1 + 7 u2, x2' = u1. With
    /// `back`, u1 takes u2 as well.
    fn direct(back: f64) -> Direct {
        let mut direct = Direct {
            states: 2,
            a: SparseRows::zeros(2),
            b: SparseRows::zeros(2),
            c: SparseRows::zeros(2),
            d: SparseRows::zeros(2),
        };
        direct.a.add(0, [(0, -1.0)].into_iter());
        direct.b.add(0, [(1, 7.0)].into_iter());
        direct.b.add(1, [(0, 1.0)].into_iter());
        direct.c.add(0, [(0, 2.0)].into_iter());
        direct.c.add(1, [(1, 3.0)].into_iter());
        direct.d.add(0, [(1, back)].into_iter());
        direct.d.add(1, [(0, 5.0)].into_iter());
        direct
    }

    /// u1 (1 - 5 back) = 2 x1 + 3 back x2 and u2 (1 - 5 back) = 10 x1 + 3 x2.
    #[test]
    fn channels_are_eliminated_with_loops_and_without() {
        for back in [0.0, 0.1] {
            let closed = direct(back).closed().unwrap();
            let part = 1.0 / (1.0 - 5.0 * back);
            let expected = [[-1.0 + 70.0 * part, 21.0 * part], [2.0 * part, 3.0 * back * part]];
            for (row, values) in expected.iter().enumerate() {
                for (column, value) in values.iter().enumerate() {
                    assert!((closed[(row, column)] - value).abs() < 1e-12 * value.abs().max(1.0), "{closed}");
                }
            }
        }
        assert!(direct(0.0).channels_in_order().is_some() && direct(0.1).channels_in_order().is_none());
        assert!(direct(0.2).closed().is_none(), "1 - D is singular");
    }
}
