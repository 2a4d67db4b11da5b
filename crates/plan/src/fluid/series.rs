//! Queues of equal links in series.
//!
//! In the equations each queue receives the rates of its senders, whatever other queues they cross (`delivery` in
//! `millpond-fluid`). Packets that a full link has served arrive at its rate, so that a link of the same capacity behind it
//! has no queue of them.

use super::FluidPlan;

impl FluidPlan {
    /// A note if two links that have a queue have the same capacity, and all data of one of them cross the other before.
    pub fn queues_in_series(&self, has_queue: impl Fn(usize) -> bool) -> Option<String> {
        let full: Vec<usize> = (0..self.links.len()).filter(|link| has_queue(*link)).collect();
        let pair =
            |link: usize| Some((self.equal_link_before(link).filter(|before| full.contains(before))?, link));
        let (before, link) = full.iter().find_map(|link| pair(*link))?;
        let [before, link] = [before, link].map(|link| &self.links[link].entity);
        Some(format!(
            "{link} has the capacity of {before}, which all of its data cross before: packets wait at {before} alone, but in \
             the equations at both, because each queue receives the rates of the senders"
        ))
    }

    /// The first link of the same capacity that all data of a link cross before it.
    fn equal_link_before(&self, link: usize) -> Option<usize> {
        let mut before = self.loops.iter().filter_map(|one| {
            let place = one.links.iter().position(|crossed| *crossed == link)?;
            one.links.get(..place)
        });
        let mut common = before.next()?.to_vec();
        before.for_each(|links| common.retain(|link| links.contains(link)));
        common.into_iter().find(|other| self.links[*other].capacity == self.links[link].capacity)
    }
}
