//! Replicas: a broker copies the partitions that others lead, and asks the controller who is to be in sync.
//!
//! [`Fetchers`] follow the metadata: one task per leader (`num.replica.fetchers` of them) copies with one fetch session.
//! [`propose`] carries what leaders decide about their in-sync sets to the controller, one request at a time.

mod fetcher;
mod fetchers;
mod isr;
mod session;

pub use fetchers::{FetchSettings, Fetchers};
pub use isr::{Asked, IsrController, propose, watch_lag};
