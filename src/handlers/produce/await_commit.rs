//! A produce whose records must be on other replicas, or on disk (`flush.messages`), before it is answered.

use std::sync::Arc;
use std::task::{Context, Poll};

use barnabas_protocol::ErrorCode;
use barnabas_protocol::produce::refuse_written;

use crate::handlers::{Answer, Ctx, Out, Outcome, Ticket, error};
use crate::partition::{Partition, PartitionError, Waiter};

/// An append that is not committed yet.
pub(super) struct Uncommitted {
    partition: Arc<Partition>,
    /// The leader epoch it was made in: what a later leader commits at its offset may be something else.
    epoch: i32,
    last_offset: i64,
    waiter: Arc<Waiter>,
    /// Where its answer is in the body.
    at: usize,
}

impl Uncommitted {
    /// `None` if it is by now; `at` is where its answer begins in the body.
    pub(super) fn of(
        partition: Arc<Partition>,
        epoch: i32,
        last_offset: i64,
        at: usize,
    ) -> Option<Uncommitted> {
        let waiter = match partition.wait_committed(last_offset) {
            Some(waiter) => waiter,
            None if partition.leader_epoch().ok() == Some(epoch) && partition.check_committed().is_ok() => {
                return None;
            }
            None => {
                let fired = Waiter::for_bytes(0);
                fired.fire();
                fired
            }
        };
        Some(Uncommitted { partition, epoch, last_offset, waiter, at })
    }

    /// How it stands: `None` while it has to wait.
    fn look(&mut self) -> Option<Result<(), ErrorCode>> {
        let waiter = self.partition.wait_committed(self.last_offset);
        match self.partition.leader_epoch() {
            Ok(epoch) if epoch == self.epoch => {}
            Ok(_) => return Some(Err(error::partition(&PartitionError::NotLeader))),
            Err(cause) => return Some(Err(error::partition(&cause))),
        }
        match waiter {
            None => Some(self.partition.check_committed().map_err(|cause| error::partition(&cause))),
            // Woken by something else.
            Some(waiter) => {
                self.waiter = waiter;
                None
            }
        }
    }
}

/// The answer that waits.
pub(super) struct AwaitCommit {
    body: Vec<u8>,
    uncommitted: Vec<Uncommitted>,
    /// Monotonic ms.
    deadline_ms: u64,
}

impl AwaitCommit {
    /// Takes the body that was written from `start` on.
    pub(super) fn new(
        out: &mut Out,
        start: usize,
        uncommitted: Vec<Uncommitted>,
        deadline_ms: u64,
    ) -> Box<AwaitCommit> {
        let body = out.bytes().split_off(start);
        Box::new(AwaitCommit { body, uncommitted, deadline_ms })
    }
}

impl Ticket for AwaitCommit {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for one in &self.uncommitted {
            if one.waiter.poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    fn deadline(&self) -> Option<u64> {
        // Only other replicas are waited for with patience that ends; a flush comes or the disk has failed.
        self.uncommitted.iter().any(|one| !one.partition.is_alone()).then_some(self.deadline_ms)
    }

    fn finish(mut self: Box<Self>, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        let due = ctx.now.mono_ms >= self.deadline_ms;
        let mut waiting = Vec::new();
        for mut one in std::mem::take(&mut self.uncommitted) {
            match one.look() {
                Some(Ok(())) => {}
                Some(Err(code)) => refuse_written(&mut self.body, one.at, ctx.version, code.code()),
                None if due && !one.partition.is_alone() => {
                    refuse_written(&mut self.body, one.at, ctx.version, ErrorCode::RequestTimedOut.code());
                }
                None => waiting.push(one),
            }
        }
        if waiting.is_empty() {
            out.bytes().append(&mut self.body);
            return Ok(Outcome::Done);
        }
        self.uncommitted = waiting;
        Ok(Outcome::Parked(self))
    }
}
