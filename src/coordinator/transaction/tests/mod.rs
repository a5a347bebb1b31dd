//! The transaction machine as stories.

mod ends;
mod listing;
mod producers;
mod random;
mod timeouts;

use super::event::{Add, End, InitProducer};
use super::response::Producer;
use super::{Effect, Event, Partitions, Request, Response, State, TransactionError};
use super::{TransactionMachine, TransactionSettings};
use crate::coordinator::story::Story;

const TIMEOUT_MS: i32 = 60_000;

/// A story about transactions.
struct Tale {
    story: Story<TransactionMachine>,
    next_id: i64,
}

type Answer<T> = Result<T, TransactionError>;

/// Topic `t` and these partitions.
fn parts(indexes: &[i32]) -> Partitions {
    Partitions::from([("t".into(), indexes.iter().copied().collect())])
}

impl Tale {
    fn new() -> Tale {
        Tale { story: Story::new(TransactionSettings::default()), next_id: 100 }
    }

    #[track_caller]
    fn ask(&mut self, request: Request) -> Response {
        let reply = self.story.ask(|reply| Event::Ask(reply, request));
        self.story.answer(reply).expect("answered at once")
    }

    fn draw(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }

    /// As a client does it: with a producer id where one is needed.
    fn init_as(&mut self, id: &str, expected: Option<Producer>) -> Answer<Producer> {
        let request =
            InitProducer { id: id.into(), timeout_ms: TIMEOUT_MS, expected, fresh: None, cluster_version: 2 };
        let again = InitProducer { fresh: Some(self.draw()), ..request.clone() };
        match self.ask(Request::InitProducer(request)) {
            Response::InitProducer(Err(TransactionError::NeedsProducerId)) => {
                match self.ask(Request::InitProducer(again)) {
                    Response::InitProducer(answer) => answer,
                    other => panic!("{other:?}"),
                }
            }
            Response::InitProducer(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    fn init(&mut self, id: &str) -> Answer<Producer> {
        self.init_as(id, None)
    }

    fn add(&mut self, id: &str, producer: Producer, indexes: &[i32], client_version: i16) -> Answer<()> {
        let (producer_id, epoch) = producer;
        let partitions = parts(indexes);
        let add = Add { id: id.into(), producer_id, epoch, partitions, client_version };
        match self.ask(Request::Add(add)) {
            Response::Add(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    fn verify(&mut self, id: &str, producer: Producer, indexes: &[i32]) -> Answer<Partitions> {
        let (producer_id, epoch) = producer;
        let add = Add { id: id.into(), producer_id, epoch, partitions: parts(indexes), client_version: 0 };
        match self.ask(Request::Verify(add)) {
            Response::Verify(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    fn end(&mut self, id: &str, producer: Producer, commit: bool, client_version: i16) -> Answer<Producer> {
        let (producer_id, epoch) = producer;
        let end = End { id: id.into(), producer_id, epoch, commit, client_version, fresh: None };
        let again = End { fresh: Some(self.draw()), ..end.clone() };
        match self.ask(Request::End(end)) {
            Response::End(Err(TransactionError::NeedsProducerId)) => match self.ask(Request::End(again)) {
                Response::End(answer) => answer,
                other => panic!("{other:?}"),
            },
            Response::End(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    /// The markers that are asked for: epoch, outcome, partitions.
    #[track_caller]
    fn markers(&mut self) -> (Producer, bool, Partitions) {
        assert_eq!(self.story.effects.len(), 1, "{:?}", self.story.effects);
        let Effect::WriteMarkers { producer_id, epoch, commit, partitions, .. } = &self.story.effects[0];
        ((*producer_id, *epoch), *commit, partitions.clone())
    }

    /// Every marker that is asked for is written.
    fn write_markers(&mut self) {
        for effect in std::mem::take(&mut self.story.effects) {
            let Effect::WriteMarkers { id, attempt, .. } = effect;
            self.story.tell(Event::Marked { id, attempt, left: Partitions::new() });
        }
    }

    fn state(&self, id: &str) -> State {
        self.story.hard.get(id).map_or(State::Dead, |(_, known)| known.state)
    }

    fn producer(&self, id: &str) -> Producer {
        self.story.hard.get(id).map(|(_, known)| (known.producer_id, known.epoch)).unwrap()
    }
}
