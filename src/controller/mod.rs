//! The cluster's metadata: one log of Kafka's metadata records, replayed into an immutable image.
//!
//! *Image*: what the committed records say – topics, partitions, brokers, configs, features. Everybody reads it,
//! nobody changes it: a change is a new image. *Record*: one of Kafka's metadata records; applying it is the only
//! way an image changes. *Decision*: what a request means, a pure function of the image: records and an answer.
//! *Driver*: decides, appends, applies, publishes the image and only then lets the answers go.
//! *Metadata log*: where the records are, in `__cluster_metadata-0`.

pub mod election;
pub mod image;
pub mod placement;
pub mod record;
pub mod state;

pub use image::{Delta, Image};
