//! Bytes to meaning and back: Kafka's frames, headers, messages and record batches.
//!
//! Nothing here knows of sockets, files, tokio or brokers. Whatever a client sent is bounded
//! before memory is reserved for it, and a value that exists has been checked.
