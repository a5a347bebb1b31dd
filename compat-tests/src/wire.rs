//! Requests and answers by hand, where a client library would hide what happened.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use barnabas_protocol::frame::LENGTH_SIZE;
use barnabas_protocol::header::{RequestHeader, parse_response_header};
use barnabas_protocol::messages::{Message, Request};
use barnabas_protocol::{Reader, Writer};

/// One connection, one request at a time.
#[derive(Debug)]
pub struct Wire {
    socket: TcpStream,
    correlation_id: i32,
}

impl Wire {
    /// Connects to `host:port`.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn connect(bootstrap: &str) -> io::Result<Wire> {
        let socket = TcpStream::connect(bootstrap)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(Wire { socket, correlation_id: 0 })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The connection failed, or the answer is not one to this request.
    pub fn call<R: Request>(&mut self, version: i16, request: &R) -> io::Result<R::Response> {
        self.send(version, request)?;
        self.receive::<R>(version)
    }

    /// Sends without waiting.
    ///
    /// # Errors
    /// The connection failed.
    pub fn send<R: Request>(&mut self, version: i16, request: &R) -> io::Result<()> {
        self.correlation_id = self.correlation_id.wrapping_add(1);
        let mut frame = vec![0; LENGTH_SIZE];
        let header = RequestHeader {
            api: R::KEY,
            version,
            correlation_id: self.correlation_id,
            client_id: "compat".into(),
        };
        header.write(&mut frame);
        request.encode(&mut Writer::new(&mut frame, version));
        let length = i32::try_from(frame.len() - LENGTH_SIZE).map_err(io::Error::other)?;
        frame.splice(..LENGTH_SIZE, length.to_be_bytes());
        self.socket.write_all(&frame)
    }

    /// The answer to the request sent last.
    ///
    /// # Errors
    /// The connection failed, or the answer is not one to this request.
    pub fn receive<R: Request>(&mut self, version: i16) -> io::Result<R::Response> {
        let mut length = [0; LENGTH_SIZE];
        self.socket.read_exact(&mut length)?;
        let mut frame = vec![0; usize::try_from(i32::from_be_bytes(length)).map_err(io::Error::other)?];
        self.socket.read_exact(&mut frame)?;
        let (correlation_id, body) =
            parse_response_header(&frame, R::KEY, version).map_err(io::Error::other)?;
        if correlation_id != self.correlation_id {
            return Err(io::Error::other("the answer to another request"));
        }
        R::Response::decode(&mut Reader::new(body, version)).map_err(io::Error::other)
    }
}
