//! The exact derivatives of every protocol, from dual numbers, against finite differences.

use crate::network::Lab;
use millpond_fluid::{Accuracy, Assembly, Entity, Frozen, Solver};
use millpond_protocols::Registry;

/// Two links; one flow crosses both, one each of them.
fn network(protocol: &str) -> Option<Assembly> {
    let mut lab = Lab::maybe(protocol, &[])?;
    let links = [lab.link("A", 50.0, 1e6), lab.link("B", 40.0, 1e6)];
    for (name, rtt, path) in [
        ("both", 0.1, vec![(links[0], 0.01), (links[1], 0.03)]),
        ("first", 0.06, vec![(links[0], 0.0)]),
        ("second", 0.08, vec![(links[1], 0.02)]),
    ] {
        let flow = lab.flow(name, rtt, &path);
        lab.network.add(flow);
    }
    Some(Assembly::new(lab.network).unwrap())
}

#[test]
fn the_exact_jacobian_agrees_with_differences_for_every_protocol() {
    let mut compared = 0;
    for protocol in Registry::builtin().protocols() {
        let name = protocol.card().name;
        let Some(asm) = network(name) else { continue };
        let mut solver = Solver::new(&asm, Accuracy::default()).unwrap();
        solver.advance(3.7).unwrap_or_else(|error| panic!("{name}: {error}"));
        let frozen = Frozen::new(&asm, 3.7);
        let point = frozen.at(solver.state()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let jacobian = frozen.jacobian(&point).expect("a Jacobian");
        let (sizes, columns) = (frozen.sizes(), asm.state_columns());
        for (j, size) in sizes.iter().enumerate() {
            let step = 1e-6 * size.max(point.x[j].abs());
            let beside = |sign: f64| {
                let mut x = point.x.clone();
                x[j] += sign * step;
                frozen.at(&x).map(|there| there.raw)
            };
            let (Ok(above), Ok(below)) = (beside(1.0), beside(-1.0)) else { continue };
            for i in (0..sizes.len()).filter(|i| !point.is_held(*i)) {
                let forward = (above[i] - point.raw[i]) / step;
                let backward = (point.raw[i] - below[i]) / step;
                // Where a derivative is discontinuous (an empty queue, a minimum of two), either one-sided value is right.
                let scale = 1e-6 * (point.raw[i].abs() + sizes[i]) / step + forward.abs().max(backward.abs());
                let off = |slope: f64| (jacobian[(i, j)] - slope).abs() / scale;
                let (row, column) = (&columns[i], &columns[j]);
                assert!(
                    off(forward).min(off(backward)) < 1e-3,
                    "{name}: d({} of {:?})/d({} of {:?}) = {}, by differences {backward} .. {forward}",
                    row.quantity,
                    row.entity,
                    column.quantity,
                    column.entity,
                    jacobian[(i, j)]
                );
            }
        }
        assert!(matches!(columns[0].entity, Entity::Loop(_)) || columns[0].entity == Entity::Link(0));
        compared += 1;
    }
    println!("{compared} protocols");
    assert!(compared >= 5);
}
