//! Applications on librdkafka against a running broker.

mod admin;
mod app;
mod groups;
mod positions;
mod produce;
