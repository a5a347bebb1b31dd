//! The cluster's metadata: one log of Kafka's metadata records, replayed into an immutable image.
//!
//! *Image*: what the committed records say – topics, partitions, brokers, configs, features. Everybody reads it,
//! nobody changes it: a change is a new image. *Record*: one of Kafka's metadata records; applying it is the only
//! way an image changes. *Decision*: what a request means, a pure function of the image: records and an answer.
//! *Driver*: decides, appends, applies, publishes the image and only then lets the answers go.
//! *Metadata log*: where the records are, in `__cluster_metadata-0`.

pub mod channel;
mod driver;
pub mod election;
mod error;
pub mod format;
pub mod image;
pub mod internal_topics;
pub mod leadership;
mod metadata;
mod metadata_log;
pub mod observer;
mod opening;
pub mod placement;
pub mod raft;
pub mod reach;
pub mod record;
pub mod state;
mod timers;
mod verbs;

pub use channel::{Channel, ChannelError};
pub use driver::{Controller, Doors, Settings};
pub use error::ControllerError;
pub use image::{Delta, Image};
pub use leadership::{Leader, Leadership};
pub use metadata::{Loader, Metadata, Subscriber};
pub use metadata_log::{
    DIRECTORY, Follower, LogEvents, MetadataLog, Opening, Position, Quorum, SnapshotId, Standing, TOPIC_ID,
    TOPIC_NAME, standing, voters,
};
pub use observer::Observer;
pub use opening::Way;
pub use state::activation::Node;
pub use state::configs::{ConfigChange, ConfigOp};
pub use state::names;
pub use state::topics::{Deleted, Doomed};
pub use state::{ConfigRules, Refusal, TopicSetting};
pub use verbs::NewTopic;

#[cfg(test)]
mod controller_test;
#[cfg(test)]
mod copy_test;
