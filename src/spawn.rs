//! The door of concurrency: who runs a task, and where work that blocks goes.

use std::future::Future;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinHandle;

/// Starts tasks on the current tokio runtime. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Spawner {
    inline_blocking: bool,
}

impl Spawner {
    /// Tasks on the runtime's workers, blocking work on its blocking threads.
    pub fn threads() -> Spawner {
        Spawner { inline_blocking: false }
    }

    /// One thread, one order: blocking work runs at once where it is asked for. For the simulator.
    pub fn simulated() -> Spawner {
        Spawner { inline_blocking: true }
    }

    /// True in the simulator: nothing may start a thread.
    pub fn is_simulated(self) -> bool {
        self.inline_blocking
    }

    /// Runs a future beside the caller.
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        tokio::spawn(future)
    }

    /// Runs work that takes long right here, while somebody else serves this thread's other tasks. Where there is
    /// only one thread (the simulator, a test) they wait.
    pub fn in_place<T>(self, work: impl FnOnce() -> T) -> T {
        let threads = Handle::try_current().is_ok_and(|at| at.runtime_flavor() == RuntimeFlavor::MultiThread);
        if threads && !self.inline_blocking { tokio::task::block_in_place(work) } else { work() }
    }

    /// Runs work that blocks (fsync, cold reads, recovery) away from the workers.
    pub fn blocking<T, F>(self, work: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if self.inline_blocking {
            let done = work();
            tokio::spawn(async move { done })
        } else {
            tokio::task::spawn_blocking(work)
        }
    }
}
