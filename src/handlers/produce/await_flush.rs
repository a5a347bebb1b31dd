//! A produce whose records must be on disk before it is answered (`flush.messages`).

use std::sync::Arc;
use std::task::{Context, Poll};

use barnabas_protocol::produce::refuse_written;

use crate::handlers::{Answer, Ctx, Out, Outcome, Ticket, error};
use crate::partition::{Partition, Waiter};

/// An append that a flush has not reached yet.
pub(super) struct Unflushed {
    partition: Arc<Partition>,
    last_offset: i64,
    waiter: Arc<Waiter>,
    /// Where its answer is in the body.
    at: usize,
}

impl Unflushed {
    /// `None` if the flush was quicker; `at` is where its answer begins among the bytes written so far.
    pub(super) fn of(partition: Arc<Partition>, last_offset: i64, at: usize) -> Option<Unflushed> {
        let waiter = partition.wait_committed(last_offset)?;
        Some(Unflushed { partition, last_offset, waiter, at })
    }
}

/// The answer that waits.
pub(super) struct AwaitFlush {
    body: Vec<u8>,
    unflushed: Vec<Unflushed>,
}

impl AwaitFlush {
    /// Takes the body that was written from `start` on.
    pub(super) fn new(out: &mut Out, start: usize, mut unflushed: Vec<Unflushed>) -> Box<AwaitFlush> {
        let body = out.bytes().split_off(start);
        unflushed.iter_mut().for_each(|one| one.at = one.at.saturating_sub(start));
        Box::new(AwaitFlush { body, unflushed })
    }
}

impl Ticket for AwaitFlush {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for one in &self.unflushed {
            if one.waiter.poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    fn finish(mut self: Box<Self>, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        let mut waiting = Vec::new();
        for one in self.unflushed {
            match one.partition.wait_committed(one.last_offset) {
                None => {}
                Some(waiter) => match one.partition.leader_epoch() {
                    // Woken by something else.
                    Ok(_) => waiting.push(Unflushed { waiter, ..one }),
                    Err(cause) => {
                        let code = error::partition(&cause).code();
                        refuse_written(&mut self.body, one.at, ctx.version, code);
                    }
                },
            }
        }
        if waiting.is_empty() {
            out.bytes().append(&mut self.body);
            return Ok(Outcome::Done);
        }
        Ok(Outcome::Parked(Box::new(AwaitFlush { body: self.body, unflushed: waiting })))
    }
}
