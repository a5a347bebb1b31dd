//! Stock clients and the official tools against a running broker.
