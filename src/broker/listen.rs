//! Binding the listeners, and what is advertised of them.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use thiserror::Error;

use crate::config;
use crate::handlers::Side;
use crate::net::{Listener, Network, SocketOptions};

/// A listener of the configuration, bound to every address its host has.
pub struct Bound {
    /// Its name.
    pub name: String,
    /// Whom it is for.
    pub side: Side,
    /// One per address.
    pub listeners: Vec<Listener>,
    /// The port; the real one if the configuration left it to the system.
    pub port: u16,
}

/// A listener that cannot be opened.
#[derive(Debug, Error)]
#[error("cannot listen on {host}:{port} (listener {name}): {source}")]
pub struct ListenError {
    name: String,
    host: String,
    port: u16,
    source: io::Error,
}

/// Kafka's default of `socket.receive.buffer.bytes`, which its sample files repeat: nobody has chosen it.
const UNCHOSEN_RECEIVE_BUFFER: u32 = 102_400;

/// The receive buffer to ask for. A fixed one of Kafka's default size holds less than a batch of 250 KB: it would come
/// in pieces, each with a wake. The system lets the buffer grow with what a connection sends instead.
fn receive_buffer(configured: Option<u32>) -> Option<u32> {
    configured.filter(|bytes| *bytes != UNCHOSEN_RECEIVE_BUFFER)
}

/// Binds the configured listeners.
///
/// # Errors
/// A host is unknown, or no address of it can be bound.
pub fn bind(network: &Network, settings: &config::broker::Network) -> Result<Vec<Bound>, ListenError> {
    let options = SocketOptions {
        send_buffer: settings.send_buffer_bytes,
        receive_buffer: receive_buffer(settings.receive_buffer_bytes),
        backlog: Some(settings.backlog),
    };
    let brokers = settings.listeners.iter().map(|listener| (listener, Side::Broker));
    let controllers = settings.controller_listeners.iter().map(|listener| (listener, Side::Controller));
    brokers.chain(controllers).map(|(listener, side)| bind_one(network, listener, side, options)).collect()
}

fn bind_one(
    network: &Network,
    wanted: &config::Listener,
    side: Side,
    options: SocketOptions,
) -> Result<Bound, ListenError> {
    let fail = |source| ListenError {
        name: wanted.name.clone(),
        host: wanted.host.clone(),
        port: wanted.port,
        source,
    };
    let mut port = wanted.port;
    let mut listeners = Vec::new();
    let mut failure = None;
    for mut address in addresses(&wanted.host, wanted.port).map_err(fail)? {
        // The port that the system gave to the first address is asked for on the others.
        address.set_port(port);
        match network.listen(address, options).and_then(|listener| Ok((listener.local_address()?, listener)))
        {
            Ok((bound, listener)) => {
                port = bound.port();
                listeners.push(listener);
            }
            // A machine without IPv6 still has `localhost` in its hosts file for it.
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => failure = Some(error),
            Err(error) if address.is_ipv6() && error.kind() == io::ErrorKind::Unsupported => {
                failure = Some(error);
            }
            Err(error) => return Err(fail(error)),
        }
    }
    match failure {
        Some(error) if listeners.is_empty() => Err(fail(error)),
        _ => Ok(Bound { name: wanted.name.clone(), side, listeners, port }),
    }
}

/// Every address of a host; an empty one is all of this machine's.
fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if host.is_empty() || host == "0.0.0.0" {
        return Ok(vec![SocketAddr::from(([0; 4], port))]);
    }
    let mut addresses: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
    addresses.sort();
    addresses.dedup();
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the host has no address"));
    }
    Ok(addresses)
}

/// The endpoints that others are told, with the ports that were bound.
pub fn advertised(told: &[config::Listener], bound: &[Bound]) -> Vec<config::Listener> {
    let mut advertised = told.to_vec();
    for listener in advertised.iter_mut().filter(|listener| listener.port == 0) {
        if let Some(bound) = bound.iter().find(|bound| bound.name == listener.name) {
            listener.port = bound.port;
        }
    }
    advertised
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receive_buffer_is_fixed_only_if_somebody_has_chosen_its_size() {
        assert_eq!(receive_buffer(Some(102_400)), None);
        assert_eq!(receive_buffer(Some(1_048_576)), Some(1_048_576));
        assert_eq!(receive_buffer(None), None);
    }
}
