//! Why a call has no answer.

use barnabas_protocol::{ApiKey, DecodeError, ErrorCode};
use thiserror::Error;

/// Why a connection is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Loss {
    /// The other end, or the kernel under it, closed the connection or refuses to make one: nobody is there.
    #[error("the connection was closed")]
    Closed,
    /// No connection came about, or an answer did not come, in time: nothing is known of the other end.
    #[error("no answer came in time")]
    Silent,
    /// The name has no address.
    #[error("the name cannot be resolved")]
    Unresolved,
    /// Who answered is not who was meant, or does not want to talk to us.
    #[error("the node refused the first exchange ({0:?})")]
    Refused(ErrorCode),
    /// What came is not Kafka's protocol.
    #[error("what came is no answer")]
    Garbled,
    /// The machine itself has no route, no socket or no memory left.
    #[error("the network failed ({0})")]
    Network(std::io::ErrorKind),
}

/// Why a call has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PeerError {
    /// Too many calls wait for this node.
    #[error("too many calls wait for this node")]
    Busy,
    /// No connection came about; nothing was sent.
    #[error("no connection: {0}")]
    Unreachable(Loss),
    /// The connection was lost before the answer; whether the node did what was asked is not known.
    #[error("the connection was lost before the answer: {0}")]
    Lost(Loss),
    /// The time is up.
    #[error("no answer in time")]
    TimedOut {
        /// The request had left.
        sent: bool,
    },
    /// What was to be sent is too large, or too small, to be a request.
    #[error("what was to be sent is no request")]
    NoFrame,
    /// The node does not speak a version that would do.
    #[error("the node has no version of {0} that would do")]
    Unsupported(ApiKey),
    /// The answer's body does not parse.
    #[error("the answer does not parse: {0}")]
    Decode(#[from] DecodeError),
    /// This node is stopping.
    #[error("calls have ended")]
    Stopped,
}

impl PeerError {
    /// False if the node cannot have done what was asked.
    pub fn was_sent(&self) -> bool {
        match self {
            PeerError::Lost(_) | PeerError::TimedOut { sent: true } | PeerError::Decode(_) => true,
            PeerError::Busy
            | PeerError::Unreachable(_)
            | PeerError::TimedOut { sent: false }
            | PeerError::NoFrame
            | PeerError::Unsupported(_)
            | PeerError::Stopped => false,
        }
    }
}
