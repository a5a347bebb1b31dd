//! Topics of a run: created, waited for, filled, deleted.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::batch::{Filling, batch};
use super::caller::Caller;
use super::drive::{Plan, drive};
use super::request::{self, Fetching, TopicId};
use super::wire::Reader;
use crate::error::{Error, Result};

/// A topic on one broker.
#[derive(Clone)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: TopicId,
    /// How many partitions it has.
    pub partitions: i32,
}

const READY: Duration = Duration::from_secs(20);

/// Creates a topic and waits until every partition answers.
pub fn create(addr: SocketAddr, name: &str, partitions: i32) -> Result<Topic> {
    create_with(addr, name, partitions, &[])
}

/// The same with settings of its own.
pub fn create_with(addr: SocketAddr, name: &str, partitions: i32, configs: &[(&str, &str)]) -> Result<Topic> {
    let mut caller = Caller::connect(addr)?;
    let answer = caller.call(&mut request::create_topic(name, partitions, configs))?;
    let mut reader = Reader(answer);
    reader.take(request::created_id_at(name))?;
    let topic = Topic { name: name.to_owned(), id: reader.array()?, partitions };
    let patience = Instant::now() + READY;
    for partition in 0..partitions {
        let nothing = Fetching { offset: 0, max_bytes: 1, max_wait_ms: 0 };
        let mut fetch = request::fetch(topic.id, partition, nothing);
        loop {
            match caller.call(&mut fetch) {
                Ok(_) => break,
                // 3, 6, 100: the broker has not heard of the new partition yet.
                Err(Error::Refused { code: 3 | 6 | 100, .. }) if Instant::now() < patience => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(other) => return Err(other),
            }
        }
    }
    Ok(topic)
}

/// Changes a setting of a topic.
pub fn alter(addr: SocketAddr, topic: &Topic, key: &str, value: &str) -> Result<()> {
    Caller::connect(addr)?.call(&mut request::alter_topic(&topic.name, key, value))?;
    Ok(())
}

/// Deletes a topic.
pub fn delete(addr: SocketAddr, topic: &Topic) -> Result<()> {
    Caller::connect(addr)?.call(&mut request::delete_topic(&topic.name))?;
    Ok(())
}

/// Writes `batches` equal batches to every partition.
pub fn fill(addr: SocketAddr, topic: &Topic, filling: Filling, batches: u64) -> Result<()> {
    let batch = batch(filling);
    let window = if batch.len() > 16 * 1024 { 4 } else { 64 };
    for partition in 0..topic.partitions {
        let connections = vec![vec![request::produce(topic.id, partition, 1, &batch)]];
        drive(addr, Plan { connections, window, requests: batches })?;
    }
    Ok(())
}
