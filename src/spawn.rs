//! The door of concurrency: who runs a task, and where work that blocks goes.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;
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

type Work = Box<dyn FnOnce() + Send>;

/// Runs work that takes long away from the workers, so many pieces at a time, the others in the order of asking: what
/// many ask for at once leaves the cores and threads to the rest. Cheap to clone.
#[derive(Clone)]
pub struct Lane {
    spawner: Spawner,
    most: usize,
    queue: Arc<Mutex<Queue>>,
}

#[derive(Default)]
struct Queue {
    running: usize,
    waiting: VecDeque<Work>,
}

impl Lane {
    /// A lane that takes at most half of the cores that the current runtime has.
    pub fn beside_the_workers(spawner: Spawner) -> Lane {
        let workers = Handle::try_current().map_or(1, |runtime| runtime.metrics().num_workers());
        Lane::new(spawner, workers / 2)
    }

    /// A lane for `most` pieces of work at a time.
    pub fn new(spawner: Spawner, most: usize) -> Lane {
        Lane { spawner, most: most.max(1), queue: Arc::default() }
    }

    /// Runs the work when its turn comes.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) {
        let work: Work = Box::new(work);
        let mut queue = self.queue.lock();
        if queue.running >= self.most {
            return queue.waiting.push_back(work);
        }
        queue.running = queue.running.saturating_add(1);
        drop(queue);
        let lane = self.clone();
        self.spawner.blocking(move || lane.drain(work));
    }

    fn drain(&self, mut work: Work) {
        loop {
            // A panic is the end of this piece of work only; whoever waits for it sees that it is gone.
            let _panicked = catch_unwind(AssertUnwindSafe(work)).is_err();
            let mut queue = self.queue.lock();
            match queue.waiting.pop_front() {
                Some(next) => work = next,
                None => {
                    queue.running = queue.running.saturating_sub(1);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    #[tokio::test]
    async fn a_lane_runs_so_many_at_a_time_and_survives_a_panic() {
        let lane = Lane::new(Spawner::threads(), 2);
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (done, all) = mpsc::channel();
        for at in 0..20 {
            let (running, most, done) = (running.clone(), most.clone(), done.clone());
            lane.run(move || {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                std::thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                assert!(at % 5 > 0, "the lane goes on all the same");
                done.send(at).unwrap();
            });
        }
        drop(done);
        assert_eq!(tokio::task::spawn_blocking(move || all.iter().count()).await.unwrap(), 16);
        assert!(most.load(Ordering::SeqCst) <= 2);
    }
}
