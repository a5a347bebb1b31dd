//! What a request may cost: allocations, copies, calls. Counted, not timed.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod allocations;
mod copies;
mod counting;
mod syncs;

#[path = "../support/mod.rs"]
mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc;

use barnabas::broker::Doors;
use barnabas_protocol::Writer;
use barnabas_protocol::messages::{Message, Request};

/// A broker on one thread of its own, so that what happens there can be counted.
pub struct Lonely {
    /// Where it listens.
    pub address: SocketAddr,
    /// Allocations of its thread.
    pub allocations: &'static AtomicU64,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
    _dir: tempfile::TempDir,
}

impl Lonely {
    /// Starts it on these doors; its thread is counted.
    pub fn start(doors: impl FnOnce() -> Doors + Send + 'static) -> Lonely {
        let allocations = Box::leak(Box::default());
        let allocations: &'static AtomicU64 = allocations;
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().to_owned();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let broker = support::start_with(support::settings(&path, 0, &[]), &doors());
                tell.send(broker.address).expect("the test waits");
                counting::count_this_thread(allocations);
                stopped.await.expect("the test ends");
                broker.stop().await;
            });
        });
        let address = told.recv().expect("it starts");
        Lonely { address, allocations, stop: Some(stop), thread: Some(thread), _dir: dir }
    }
}

impl Drop for Lonely {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _gone = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the broker ends well");
        }
    }
}

/// A connection that blocks, and reuses what it sends.
pub struct Plain(TcpStream);

impl Plain {
    /// Connects.
    pub fn connect(address: SocketAddr) -> Plain {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        Plain(stream)
    }

    /// Sends a frame and waits for the reply, without its length.
    pub fn exchange(&mut self, frame: &[u8]) -> Vec<u8> {
        self.0.write_all(frame).expect("the broker reads");
        let mut length = [0; 4];
        self.0.read_exact(&mut length).expect("a reply");
        let mut reply = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut reply).expect("a reply");
        reply
    }
}

/// A request as a frame.
pub fn frame<R: Request>(version: i16, request: &R) -> Vec<u8> {
    support::frame(R::KEY, version, 1, |out| request.encode(&mut Writer::new(out, version)))
}

/// Makes a topic of one partition on a running broker.
pub fn topic(client: &mut Plain, name: &str) -> barnabas_protocol::Uuid {
    let reply = client.exchange(&frame(7, &support::create_topic_request(name, 1)));
    let body = reply.get(5..).expect("a flexible header");
    let response =
        barnabas_protocol::messages::CreateTopicsResponse::from_bytes(body, 7).expect("a response");
    assert_eq!(response.topics[0].error_code, 0);
    response.topics[0].topic_id
}
