//! The connections of a node, and which of them need a look.
//!
//! A connection needs a look after it was changed, until it has nothing to send, and when its deadline comes. All others
//! are left alone, so that the work per datagram does not grow with the number of connections.

use crate::flow::LinkId;
use millpond_units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// What has a deadline, which changes only when it is changed itself.
pub(crate) trait Timed {
    /// When it needs a look, unless it is changed before.
    fn due(&self) -> Time;
}

/// Connections by number.
pub(crate) struct Links<T> {
    all: BTreeMap<LinkId, Entry<T>>,
    /// Those that were changed since they last had nothing to send.
    changed: BTreeSet<LinkId>,
    /// The deadlines of the others.
    deadlines: BTreeSet<(Time, LinkId)>,
}

struct Entry<T> {
    link: T,
    /// Its deadline in [`Links::deadlines`]; none if it was changed.
    due: Option<Time>,
}

impl<T> Default for Links<T> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), changed: BTreeSet::new(), deadlines: BTreeSet::new() }
    }
}

impl<T: Timed> Links<T> {
    /// Adds a connection, which needs a look.
    pub(crate) fn insert(&mut self, id: LinkId, link: T) {
        self.remove(id);
        self.all.insert(id, Entry { link, due: None });
        self.changed.insert(id);
    }

    /// Removes a connection.
    pub(crate) fn remove(&mut self, id: LinkId) {
        self.changed.remove(&id);
        if let Some(Entry { due: Some(due), .. }) = self.all.remove(&id) {
            self.deadlines.remove(&(due, id));
        }
    }

    /// A connection.
    pub(crate) fn get(&self, id: LinkId) -> Option<&T> {
        self.all.get(&id).map(|entry| &entry.link)
    }

    /// A connection that is to be changed: it needs a look.
    pub(crate) fn get_mut(&mut self, id: LinkId) -> Option<&mut T> {
        let entry = self.all.get_mut(&id)?;
        if let Some(due) = entry.due.take() {
            self.deadlines.remove(&(due, id));
            self.changed.insert(id);
        }
        Some(&mut entry.link)
    }

    /// All connections, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (LinkId, &T)> {
        self.all.iter().map(|(id, entry)| (*id, &entry.link))
    }

    /// The numbers of all connections.
    pub(crate) fn ids(&self) -> Vec<LinkId> {
        self.all.keys().copied().collect()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The first connection that was changed since it last had nothing to send.
    pub(crate) fn first_changed(&self) -> Option<LinkId> {
        self.changed.first().copied()
    }

    /// A connection has nothing to send: it needs no look before its deadline.
    pub(crate) fn rest(&mut self, id: LinkId) {
        self.changed.remove(&id);
        if let Some(entry) = self.all.get_mut(&id).filter(|entry| entry.due.is_none()) {
            let due = entry.link.due();
            entry.due = Some(due);
            self.deadlines.insert((due, id));
        }
    }

    /// The connections whose deadline has come, and those that were changed.
    pub(crate) fn due(&self, now: Time) -> Vec<LinkId> {
        let due = self.deadlines.range(..=(now, LinkId::MAX)).map(|(_, id)| *id);
        self.changed.iter().copied().chain(due).collect()
    }

    /// The earliest deadline.
    pub(crate) fn deadline(&self) -> Time {
        let first = self.deadlines.first().map_or(Time::NEVER, |(due, _)| *due);
        let changed = self.changed.iter().filter_map(|id| self.get(*id)).map(T::due);
        changed.fold(first, Time::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::Span;
    use std::cell::Cell;

    const MS: fn(u64) -> Time = |ms| Time::ZERO + Span::from_millis(ms);

    /// Counts how often its deadline is asked for.
    struct Fake {
        due: Time,
        looks: Cell<u32>,
    }

    impl Timed for Fake {
        fn due(&self) -> Time {
            self.looks.set(self.looks.get() + 1);
            self.due
        }
    }

    /// Connections 1 to `count` with deadlines after as many milliseconds, none of which was changed.
    fn at_rest(count: u32) -> Links<Fake> {
        let mut links = Links::default();
        for id in 1..=count {
            links.insert(id, Fake { due: MS(id.into()), looks: Cell::new(0) });
            links.rest(id);
        }
        links
    }

    #[test]
    fn a_connection_at_rest_is_not_looked_at_however_often_the_others_change() {
        let mut links = at_rest(1000);
        for _ in 0..100 {
            links.get_mut(7).unwrap().due = MS(5000);
            assert_eq!((links.first_changed(), links.deadline()), (Some(7), MS(1)));
            links.rest(7);
            assert_eq!(links.first_changed(), None);
        }
        assert!(links.iter().all(|(id, fake)| id == 7 || fake.looks.get() == 1));
        assert_eq!(links.due(MS(999)).len(), 998, "all but 7 and 1000");
    }

    #[test]
    fn the_earliest_deadline_is_that_of_all_whether_changed_or_not() {
        let mut links = at_rest(3);
        links.get_mut(2).unwrap().due = Time::ZERO;
        assert_eq!((links.deadline(), links.due(Time::ZERO)), (Time::ZERO, vec![2]));
        links.rest(2);
        assert_eq!((links.deadline(), links.due(Time::ZERO)), (Time::ZERO, vec![2]));
        links.get_mut(2).unwrap().due = Time::NEVER;
        assert_eq!(links.deadline(), MS(1));
        links.rest(2);
        assert_eq!(links.due(MS(3)), [1, 3]);
    }

    #[test]
    fn a_removed_connection_has_no_deadline_and_a_new_one_of_its_number_starts_anew() {
        let mut links = at_rest(2);
        links.get_mut(1);
        links.remove(1);
        links.remove(2);
        assert_eq!((links.deadline(), links.first_changed(), links.len()), (Time::NEVER, None, 0));
        assert!(
            links.get_mut(1).is_none() && links.first_changed().is_none(),
            "no number without a connection"
        );
        links.insert(1, Fake { due: MS(9), looks: Cell::new(0) });
        links.rest(1);
        links.insert(1, Fake { due: MS(4), looks: Cell::new(0) });
        assert_eq!((links.due(MS(9)), links.deadline(), links.ids()), (vec![1], MS(4), vec![1]));
        links.rest(1);
        assert_eq!(links.due(MS(4)), [1]);
    }
}
