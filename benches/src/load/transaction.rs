//! Transactions of one producer, one request at a time.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::batch::{Filling, Producer, transactional};
use super::caller::Caller;
use super::request::{self, Frame, TopicId, producer_of};
use crate::error::{Error, Result};

const PATIENCE: Duration = Duration::from_secs(60);
/// Between two tries, as in the Java client.
const PAUSE: Duration = Duration::from_millis(20);
/// No leader, coordinator not there or loading, not enough replicas, the transaction before ends: all pass.
const NOT_YET: [i16; 7] = [3, 6, 14, 15, 16, 19, 51];

/// A connection with a transactional producer.
pub struct Transactional {
    caller: Caller,
    id: String,
    producer: Producer,
}

impl Transactional {
    /// The first producer of a transactional id.
    pub fn begin(addr: SocketAddr, id: &str) -> Result<Transactional> {
        let mut caller = Caller::connect(addr)?;
        again(&mut caller, &mut request::find_coordinator(id))?;
        let producer = producer_of(&again(&mut caller, &mut request::init_producer_id(id))?)?;
        Ok(Transactional { caller, id: id.to_owned(), producer })
    }

    /// The same connection for another transactional id.
    pub fn next(&mut self, id: &str) -> Result<()> {
        self.producer = producer_of(&again(&mut self.caller, &mut request::init_producer_id(id))?)?;
        id.clone_into(&mut self.id);
        Ok(())
    }

    /// One batch to each of the first partitions, then the end.
    pub fn transaction(&mut self, topic: TopicId, fillings: &[Filling], commit: bool) -> Result<()> {
        let batches: Vec<Vec<u8>> =
            fillings.iter().map(|filling| transactional(*filling, self.producer)).collect();
        again(&mut self.caller, &mut request::produce_in_transaction(topic, &self.id, &batches))?;
        let mut end = request::end_transaction(&self.id, self.producer, commit);
        self.producer = producer_of(&again(&mut self.caller, &mut end)?)?;
        Ok(())
    }

    /// A transaction of a client before KIP-890 begins and stays open.
    pub fn leave_open(&mut self, topic: &str) -> Result<()> {
        let mut add = request::add_partition(&self.id, self.producer, topic, 0);
        again(&mut self.caller, &mut add).map(drop)
    }
}

/// Asks until the broker is ready for it; the answer.
fn again(caller: &mut Caller, frame: &mut Frame) -> Result<Vec<u8>> {
    let end = Instant::now() + PATIENCE;
    loop {
        match caller.call(frame) {
            Err(Error::Refused { code, .. }) if NOT_YET.contains(&code) && Instant::now() < end => {
                std::thread::sleep(PAUSE);
            }
            other => return other.map(<[u8]>::to_vec),
        }
    }
}
