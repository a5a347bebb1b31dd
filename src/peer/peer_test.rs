//! Peers on the simulated network: what a caller sees of every way a node can fail.

use std::io::IoSlice;
use std::net::SocketAddr;

use barnabas_protocol::header::{RequestHeader, write_response_header};
use barnabas_protocol::messages::api_versions::ApiVersion;
use barnabas_protocol::messages::{
    ApiVersionsRequest, ApiVersionsResponse, HeartbeatRequest, HeartbeatResponse, Message,
};
use barnabas_protocol::{ApiKey, ErrorCode};

use super::*;
use crate::net::{Listener, SimulatedNetwork, SocketOptions, Stream};

/// A node whose every answer the test writes.
struct Node {
    listener: Listener,
}

struct Accepted {
    stream: Stream,
    came: Vec<u8>,
}

struct World {
    network: Network,
    clock: Clock,
}

impl World {
    fn new() -> World {
        World { network: Network::Simulated(SimulatedNetwork::new()), clock: Clock::simulated(0) }
    }

    fn address(port: u16) -> Address {
        Address { host: "localhost".to_owned(), port }
    }

    fn node(&self, port: u16) -> Node {
        let at = SocketAddr::from(([127, 0, 0, 1], port));
        Node { listener: self.network.listen(at, SocketOptions::default()).unwrap() }
    }

    fn peers(&self) -> Peers {
        let rng = Rng::from_seed(1);
        Peers::new(self.network.clone(), Spawner::simulated(), self.clock.clone(), rng, "me")
    }
}

impl Node {
    async fn accept(&mut self) -> Accepted {
        let (stream, _) = self.listener.accept().await.unwrap();
        Accepted { stream, came: Vec::new() }
    }

    /// A connection that has agreed on Heartbeat up to a version.
    async fn greeted(&mut self, highest: i16) -> Accepted {
        let mut connection = self.accept().await;
        let (version, id, _) = connection.request(ApiKey::ApiVersions).await;
        let row = |api: ApiKey, max_version| ApiVersion { api_key: api.key(), min_version: 0, max_version };
        let api_keys = vec![row(ApiKey::ApiVersions, 5), row(ApiKey::Heartbeat, highest)];
        let response = ApiVersionsResponse { api_keys, ..ApiVersionsResponse::default() };
        connection.answer(ApiKey::ApiVersions, version, id, &response).await;
        connection
    }
}

impl Accepted {
    /// The next request: version, correlation id, body.
    async fn request(&mut self, api: ApiKey) -> (i16, i32, Vec<u8>) {
        loop {
            if let Some((length, rest)) = self.came.split_first_chunk::<4>() {
                let length = u32::from_be_bytes(*length) as usize;
                if rest.len() >= length {
                    let (header, body) = RequestHeader::parse(&rest[..length]).unwrap();
                    assert_eq!(header.api, api);
                    let found = (header.version, header.correlation_id, body.to_vec());
                    self.came.drain(..length + 4);
                    return found;
                }
            }
            let mut buffer = vec![0; 4096];
            let read = std::future::poll_fn(|cx| self.stream.poll_read(cx, &mut buffer)).await.unwrap();
            assert_ne!(read, 0, "the peer hung up");
            self.came.extend_from_slice(&buffer[..read]);
        }
    }

    async fn answer(&mut self, api: ApiKey, version: i16, id: i32, response: &impl Message) {
        let mut frame = vec![0; 4];
        write_response_header(&mut frame, api, version, id);
        response.encode(&mut Writer::new(&mut frame, version));
        self.send_frame(frame).await;
    }

    async fn send_frame(&mut self, mut frame: Vec<u8>) {
        let length = u32::try_from(frame.len() - 4).unwrap();
        frame[..4].copy_from_slice(&length.to_be_bytes());
        self.send(&frame).await;
    }

    async fn send(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let sent = std::future::poll_fn(|cx| self.stream.poll_write(cx, &[IoSlice::new(bytes)])).await;
            bytes = &bytes[sent.unwrap()..];
        }
    }
}

fn heartbeat(generation_id: i32) -> HeartbeatRequest {
    HeartbeatRequest { group_id: "g".into(), generation_id, ..HeartbeatRequest::default() }
}

fn beat(throttle_time_ms: i32) -> HeartbeatResponse {
    HeartbeatResponse { throttle_time_ms, ..HeartbeatResponse::default() }
}

#[tokio::test(start_paused = true)]
async fn calls_are_pipelined_at_the_version_both_speak() {
    let world = World::new();
    let mut node = world.node(9);
    let peer = world.peers().open(World::address(9));
    assert!(!peer.is_connected());
    let calls = async {
        let (first, second) = (heartbeat(1), heartbeat(2));
        tokio::join!(peer.ask(&first, 1000), peer.ask(&second, 1000))
    };
    let serve = async {
        let mut connection = node.greeted(2).await;
        // Both came before either is answered.
        let mut ids = Vec::new();
        for generation in [1, 2] {
            let (version, id, body) = connection.request(ApiKey::Heartbeat).await;
            assert_eq!(version, 2);
            assert_eq!(HeartbeatRequest::from_bytes(&body, 2).unwrap().generation_id, generation);
            ids.push(id);
        }
        for (id, throttle) in ids.into_iter().zip([10, 20]) {
            connection.answer(ApiKey::Heartbeat, 2, id, &beat(throttle)).await;
        }
        connection
    };
    let ((first, second), _connection) = tokio::join!(calls, serve);
    assert_eq!((first.unwrap().throttle_time_ms, second.unwrap().throttle_time_ms), (10, 20));
    assert!(peer.is_connected());
    assert_eq!(peer.ask_at(&heartbeat(1), 4, 1000).await, Err(PeerError::Unsupported(ApiKey::Heartbeat)));
}

#[tokio::test(start_paused = true)]
async fn nobody_there_is_known_at_once_and_the_next_attempt_waits() {
    let world = World::new();
    let peer = world.peers().open(World::address(9));
    let mut pauses = Vec::new();
    for _ in 0..8 {
        let before = world.clock.now().mono_ms;
        let refused = peer.ask(&heartbeat(1), 60_000).await;
        assert_eq!(refused, Err(PeerError::Unreachable(Loss::Closed)));
        pauses.push(world.clock.now().mono_ms - before);
    }
    assert_eq!(pauses[0], 0);
    for (pause, expected) in pauses[1..].iter().zip([50, 100, 200, 400, 800, 1000, 1000]) {
        assert!((expected * 4 / 5..=expected * 6 / 5 + 1).contains(pause), "{pauses:?}");
    }
    // Once somebody is there, the call that waits for the pause's end is answered.
    let mut node = world.node(9);
    let serve = async {
        let mut connection = node.greeted(4).await;
        let (version, id, _) = connection.request(ApiKey::Heartbeat).await;
        connection.answer(ApiKey::Heartbeat, version, id, &beat(1)).await;
        connection
    };
    let request = heartbeat(1);
    let (answer, _connection) = tokio::join!(peer.ask(&request, 60_000), serve);
    assert_eq!(answer, Ok(beat(1)));
}

#[tokio::test(start_paused = true)]
async fn a_closed_connection_and_a_silent_node_are_told_apart() {
    let world = World::new();
    let mut node = world.node(9);
    let peer = world.peers().open(World::address(9));
    let state = peer.state();
    let request = heartbeat(1);

    let close = async {
        let mut connection = node.greeted(4).await;
        connection.request(ApiKey::Heartbeat).await;
    };
    let (lost, ()) = tokio::join!(peer.ask(&request, 1000), close);
    assert_eq!(lost, Err(PeerError::Lost(Loss::Closed)));
    assert!(matches!(*state.borrow(), PeerState::Down { loss: Loss::Closed, .. }));

    let silent = async {
        let mut connection = node.greeted(4).await;
        connection.request(ApiKey::Heartbeat).await;
        connection
    };
    // The one behind a call that is given up cannot be answered either.
    let calls = async { tokio::join!(peer.ask(&request, 300), peer.ask(&request, 1000)) };
    let ((first, second), _connection) = tokio::join!(calls, silent);
    assert_eq!(first, Err(PeerError::TimedOut { sent: true }));
    assert_eq!(second, Err(PeerError::Lost(Loss::Silent)));
    assert!(matches!(*state.borrow(), PeerState::Down { loss: Loss::Silent, .. }));

    // A node that accepts and says nothing: not even the first exchange.
    let accept = node.accept();
    let (timed_out, _connection) = tokio::join!(peer.ask(&request, 200), accept);
    assert_eq!(timed_out, Err(PeerError::TimedOut { sent: false }));
}

#[tokio::test(start_paused = true)]
async fn an_older_node_is_asked_in_its_own_version() {
    let world = World::new();
    let mut node = world.node(9);
    let identity = Identity { cluster_id: "c".to_owned(), node_id: 3 };
    let peer = world.peers().open_node(World::address(9), identity);
    let serve = async {
        let mut connection = node.accept().await;
        let (version, id, body) = connection.request(ApiKey::ApiVersions).await;
        let greeting = ApiVersionsRequest::from_bytes(&body, version).unwrap();
        assert_eq!((version, greeting.node_id, greeting.cluster_id.as_deref()), (5, 3, Some("c")));
        let own = ApiVersion { api_key: ApiKey::ApiVersions.key(), min_version: 0, max_version: 3 };
        let error_code = ErrorCode::UnsupportedVersion.code();
        let response = ApiVersionsResponse { error_code, api_keys: vec![own], ..Default::default() };
        connection.answer(ApiKey::ApiVersions, 0, id, &response).await;
        let (version, id, _) = connection.request(ApiKey::ApiVersions).await;
        assert_eq!(version, 3);
        let row = ApiVersion { api_key: ApiKey::Heartbeat.key(), min_version: 0, max_version: 1 };
        let response = ApiVersionsResponse { api_keys: vec![row], ..Default::default() };
        connection.answer(ApiKey::ApiVersions, 3, id, &response).await;
        let (version, id, _) = connection.request(ApiKey::Heartbeat).await;
        assert_eq!(version, 1);
        connection.answer(ApiKey::Heartbeat, 1, id, &beat(7)).await;
        connection
    };
    let request = heartbeat(1);
    let (answer, _connection) = tokio::join!(peer.ask(&request, 1000), serve);
    assert_eq!(answer, Ok(beat(7)));
}

#[tokio::test(start_paused = true)]
async fn another_node_at_the_address_is_not_talked_to() {
    let world = World::new();
    let mut node = world.node(9);
    let identity = Identity { cluster_id: "c".to_owned(), node_id: 3 };
    let peer = world.peers().open_node(World::address(9), identity);
    let error = ErrorCode::RebootstrapRequired;
    let serve = async {
        let mut connection = node.accept().await;
        let (_, id, _) = connection.request(ApiKey::ApiVersions).await;
        let response = ApiVersionsResponse { error_code: error.code(), ..Default::default() };
        connection.answer(ApiKey::ApiVersions, 5, id, &response).await;
        connection
    };
    let request = heartbeat(1);
    let (answer, _connection) = tokio::join!(peer.ask(&request, 1000), serve);
    assert_eq!(answer, Err(PeerError::Unreachable(Loss::Refused(error))));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_answer_ends_the_connection() {
    let world = World::new();
    let mut node = world.node(9);
    let peer = world.peers().open(World::address(9));
    let request = heartbeat(1);
    for bad in [&[0xff, 0xff, 0xff, 0xff][..], &[0x7f, 0xff, 0xff, 0xff], &[0, 0, 0, 4, 9, 9, 9, 9]] {
        let serve = async {
            let mut connection = node.greeted(4).await;
            connection.request(ApiKey::Heartbeat).await;
            connection.send(bad).await;
            connection
        };
        let (answer, _connection) = tokio::join!(peer.ask(&request, 1000), serve);
        assert_eq!(answer, Err(PeerError::Lost(Loss::Garbled)));
    }
    // A body that does not parse is the caller's trouble; the connection goes on.
    let serve = async {
        let mut connection = node.greeted(4).await;
        let (_, id, _) = connection.request(ApiKey::Heartbeat).await;
        let mut frame = vec![0; 4];
        write_response_header(&mut frame, ApiKey::Heartbeat, 4, id);
        connection.send_frame(frame).await;
        connection
    };
    let (answer, _connection) = tokio::join!(peer.ask(&request, 1000), serve);
    assert!(matches!(answer, Err(PeerError::Decode(_))), "{answer:?}");
    assert!(peer.is_connected());
}

#[tokio::test(start_paused = true)]
async fn a_private_frame_goes_and_comes_as_it_is() {
    let world = World::new();
    let mut node = world.node(9);
    let peer = world.peers().open(World::address(9));
    let mut frame = vec![0x7f, 1, 0, 0, 0, 0, 0, 0];
    frame.extend_from_slice(b"anything");
    let serve = async {
        let mut connection = node.greeted(4).await;
        let mut came = Vec::new();
        while came.len() < 20 {
            let mut buffer = vec![0; 64];
            let read = std::future::poll_fn(|cx| connection.stream.poll_read(cx, &mut buffer)).await.unwrap();
            came.extend_from_slice(&buffer[..read]);
        }
        assert_eq!((&came[4..8], &came[12..]), (&[0x7f, 1, 0, 0][..], &b"anything"[..]));
        let mut answer = vec![0; 4];
        answer.extend_from_slice(&came[8..12]);
        answer.extend_from_slice(b"else");
        connection.send_frame(answer).await;
        connection
    };
    let (answer, _connection) = tokio::join!(peer.exchange(frame, 1000), serve);
    assert_eq!(answer.unwrap(), &b"else"[..]);
    assert_eq!(peer.exchange(vec![1, 2], 1000).await, Err(PeerError::NoFrame));
}
