//! Committed offsets: written, read, deleted.

pub mod commit;
pub mod delete;
pub mod fetch;
