//! What a client that came in by some listener can reach: each listener has its own view of the cluster.

use super::image::{BrokerImage, Endpoint, Image, PartitionImage};
use super::state::directories;

/// Why nobody can be told as the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaderless {
    /// There is none, or it is not registered.
    Nobody,
    /// It is registered, but not to be reached by this listener, or fenced.
    NotHere,
}

/// The image as it is seen through one listener.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    image: &'a Image,
    listener: &'a str,
}

impl<'a> Reach<'a> {
    /// Through this listener.
    pub fn new(image: &'a Image, listener: &'a str) -> Reach<'a> {
        Reach { image, listener }
    }

    /// Brokers that clients are told of, and where they are.
    pub fn brokers(self) -> impl Iterator<Item = (&'a BrokerImage, &'a Endpoint)> {
        self.all_brokers().filter(|(broker, _)| !broker.fenced)
    }

    /// The same, with those that are fenced.
    pub fn all_brokers(self) -> impl Iterator<Item = (&'a BrokerImage, &'a Endpoint)> {
        self.image.brokers().filter_map(move |broker| Some((&**broker, broker.endpoint(self.listener)?)))
    }

    /// A broker that clients can be sent to.
    pub fn endpoint(self, broker: i32) -> Option<&'a Endpoint> {
        self.image.broker(broker).filter(|broker| !broker.fenced)?.endpoint(self.listener)
    }

    /// The leader of a partition, if clients can be sent to it.
    pub fn leader(self, partition: &PartitionImage) -> Result<i32, Leaderless> {
        match self.endpoint(partition.leader) {
            Some(_) => Ok(partition.leader),
            None if self.image.broker(partition.leader).is_some() => Err(Leaderless::NotHere),
            None => Err(Leaderless::Nobody),
        }
    }

    /// Replicas that are not to be reached now.
    pub fn offline(self, partition: &PartitionImage) -> Vec<i32> {
        let offline = |id: &i32| {
            let alive = self.image.broker(*id).is_some_and(|broker| {
                let directory = partition.directory_of(*id).unwrap_or_default();
                !broker.fenced && directories::is_online(directory, &broker.directories)
            });
            !alive || self.endpoint(*id).is_none()
        };
        partition.replicas.iter().copied().filter(offline).collect()
    }

    /// Those of some brokers that clients can be sent to.
    pub fn alive(self, brokers: &[i32]) -> Vec<i32> {
        brokers.iter().copied().filter(|id| self.endpoint(*id).is_some()).collect()
    }
}
