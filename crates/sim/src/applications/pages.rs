//! A browser that loads one web page after the other over persistent connections.
//!
//! ```text
//!   page begins      first object       parsed    other objects                        page complete
//!       |--request--|====== arrives ======|.......|--request--|== ... ==| on each connection |-- think --> next page
//! ```

use super::requests::{RequestPath, Requests};
use super::{Application, Connections};
use crate::transfers::Transfer;
use millpond_units::{Bytes, Span, Time};
use std::collections::VecDeque;

/// A web page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The size of the object that names all others.
    pub first: Bytes,
    /// The sizes of the others, in the order in which they are requested.
    pub others: Vec<Bytes>,
    /// The time from the arrival of the first object to the requests of the others.
    pub parse: Span,
    /// The time from the last byte of the page to the beginning of the next one.
    pub think: Span,
}

/// What a browser waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The next page begins at this time.
    Thinking(Time),
    /// The first object has not arrived.
    First,
    /// The others are requested at this time.
    Parsing(Time),
    /// Not all others have arrived.
    Others,
    /// There are no more pages.
    Over,
}

/// A browser with its server: a page has its objects on all connections, one at a time on each.
pub struct PageLoads {
    pages: Box<dyn Iterator<Item = Page> + Send>,
    connections: Vec<Requests>,
    stage: Stage,
    page: Page,
    /// Objects of the page that are not requested yet.
    waiting: VecDeque<Bytes>,
    transfers: Vec<Transfer>,
}

impl PageLoads {
    /// A browser with these connections, whose first page begins at the start.
    pub fn new(
        pages: Box<dyn Iterator<Item = Page> + Send>,
        connections: impl IntoIterator<Item = RequestPath>,
    ) -> Self {
        Self {
            pages,
            connections: connections.into_iter().map(Requests::new).collect(),
            stage: Stage::Thinking(Time::ZERO),
            page: Page::default(),
            waiting: VecDeque::new(),
            transfers: Vec::new(),
        }
    }

    fn begin_page(&mut self, now: Time) {
        let Some(page) = self.pages.next() else {
            self.stage = Stage::Over;
            return;
        };
        let size = page.others.iter().fold(page.first, |sum, size| sum + *size);
        self.transfers.push(Transfer { arrived: now, size, delivered: Bytes::ZERO, completed: None });
        (self.stage, self.page) = (Stage::First, page);
        if let Some(connection) = self.connections.first_mut() {
            connection.request(now, self.page.first);
        }
    }

    fn request_others(&mut self, now: Time) {
        self.waiting = std::mem::take(&mut self.page.others).into();
        self.stage = Stage::Others;
        for connection in self.connections.iter_mut().filter(|connection| connection.is_idle()) {
            let Some(size) = self.waiting.pop_front() else { break };
            connection.request(now, size);
        }
    }

    /// Requests the next object on a connection whose object has arrived.
    fn continue_page(&mut self, now: Time, connection: usize) {
        match self.stage {
            Stage::First if !self.page.others.is_empty() => {
                self.stage = Stage::Parsing(now + self.page.parse);
            }
            Stage::Others if !self.waiting.is_empty() => {
                let size = self.waiting.pop_front();
                let next = self.connections.get_mut(connection);
                next.zip(size).into_iter().for_each(|(next, size)| next.request(now, size));
            }
            Stage::First | Stage::Others if self.connections.iter().all(Requests::is_idle) => {
                self.complete_page(now);
            }
            _ => {}
        }
    }

    fn complete_page(&mut self, now: Time) {
        if let Some(page) = self.transfers.last_mut() {
            (page.delivered, page.completed) = (page.size, Some(now));
        }
        self.stage = Stage::Thinking(now + self.page.think);
    }
}

impl Application for PageLoads {
    fn on_time(&mut self, now: Time, connections: &mut dyn Connections) {
        match self.stage {
            Stage::Thinking(until) if until <= now => self.begin_page(now),
            Stage::Parsing(until) if until <= now => self.request_others(now),
            _ => {}
        }
        for (number, connection) in self.connections.iter_mut().enumerate() {
            connection.answer(now, number, connections);
        }
    }

    fn on_arrival(&mut self, now: Time, connection: usize, prefix: Bytes, connections: &mut dyn Connections) {
        let complete = self.connections.get_mut(connection).is_some_and(|one| one.completes(prefix));
        if complete {
            self.continue_page(now, connection);
            self.on_time(now, connections);
        }
    }

    fn next(&self) -> Time {
        let stage = match self.stage {
            Stage::Thinking(until) | Stage::Parsing(until) => until,
            Stage::First | Stage::Others | Stage::Over => Time::NEVER,
        };
        self.connections.iter().map(Requests::next).fold(stage, Time::min)
    }

    fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }
}
