//! Who leads the metadata log, as far as this process knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;

use crate::peer::Address;

/// The active controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    /// `node.id`.
    pub id: i32,
    /// The epoch that it leads.
    pub epoch: i32,
    /// Where it listens for nodes, if that is known.
    pub address: Option<Address>,
}

/// What is known of the leader; the quorum or the observer of this process tells it. Cheap to clone.
#[derive(Clone)]
pub struct Leadership(Arc<Shared>);

struct Shared {
    voters: BTreeMap<i32, Address>,
    bootstrap: Vec<Address>,
    known: watch::Sender<(i32, Option<Leader>)>,
}

impl Leadership {
    /// Nobody is known to lead. `voters` are `controller.quorum.voters`, `bootstrap` is
    /// `controller.quorum.bootstrap.servers`.
    pub fn new(voters: Vec<(i32, Address)>, bootstrap: Vec<Address>) -> Leadership {
        let (known, _) = watch::channel((-1, None));
        Leadership(Arc::new(Shared { voters: voters.into_iter().collect(), bootstrap, known }))
    }

    /// The leader, if one is known.
    pub fn get(&self) -> Option<Leader> {
        self.0.known.borrow().1.clone()
    }

    /// Notes who leads an epoch. Older epochs are ignored, and so is news without an address of a leader whose
    /// address is known.
    pub fn set(&self, epoch: i32, leader: Option<(i32, Option<Address>)>) {
        let voters = &self.0.voters;
        self.0.known.send_if_modified(|(known_epoch, known)| {
            let before = known.as_ref().filter(|known| known.epoch == epoch);
            let next = leader.map(|(id, address)| {
                let before =
                    before.filter(|before| before.id == id).and_then(|before| before.address.clone());
                Leader { id, epoch, address: address.or(before).or_else(|| voters.get(&id).cloned()) }
            });
            if epoch < *known_epoch || (epoch == *known_epoch && *known == next) {
                return false;
            }
            (*known_epoch, *known) = (epoch, next);
            true
        });
    }

    /// Forgets that a leader can be reached: it is to be asked for anew.
    pub fn lost(&self) {
        self.0.known.send_if_modified(|(_, known)| known.take().is_some());
    }

    /// The epoch and its leader, and every later one.
    pub fn watch(&self) -> watch::Receiver<(i32, Option<Leader>)> {
        self.0.known.subscribe()
    }

    /// Whom to ask while nobody is known to lead.
    pub fn candidates(&self) -> Vec<Address> {
        if self.0.bootstrap.is_empty() {
            return self.0.voters.values().cloned().collect();
        }
        self.0.bootstrap.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(port: u16) -> Address {
        Address { host: "h".to_owned(), port }
    }

    #[test]
    fn the_newest_epoch_counts_and_addresses_come_from_where_they_are_known() {
        let leadership = Leadership::new(vec![(1, at(1)), (2, at(2))], Vec::new());
        assert_eq!((leadership.get(), leadership.candidates()), (None, vec![at(1), at(2)]));
        leadership.set(3, Some((2, None)));
        assert_eq!(leadership.get(), Some(Leader { id: 2, epoch: 3, address: Some(at(2)) }));
        leadership.set(2, Some((1, None)));
        assert_eq!(leadership.get().map(|leader| leader.id), Some(2), "an older epoch");
        leadership.set(3, Some((2, Some(at(9)))));
        leadership.set(3, Some((2, None)));
        assert_eq!(leadership.get().and_then(|leader| leader.address), Some(at(9)));
        leadership.lost();
        assert_eq!(leadership.get(), None);
        leadership.set(4, Some((7, None)));
        assert_eq!(leadership.get(), Some(Leader { id: 7, epoch: 4, address: None }));
    }
}
