//! openraft on our doors: its tasks run where the broker's run, its timers follow the time that the clock follows,
//! and its dice can be set by a simulation.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::time::Duration;

use openraft::async_runtime::AsyncRuntime;
use openraft::{OptionalSend, TokioRuntime};

use crate::rng::Rng;
use crate::spawn::Spawner;

thread_local! {
    /// openraft asks for dice without saying for whom. A simulation runs in one thread and sets its own; elsewhere
    /// each thread has its own.
    static DICE: RefCell<Option<Rng>> = const { RefCell::new(None) };
}

/// What openraft runs on.
#[derive(Debug)]
pub struct Runtime(TokioRuntime);

impl Runtime {
    /// From now on openraft's dice on this thread are these.
    pub fn set_dice(dice: &Rng) {
        DICE.set(Some(dice.clone()));
    }
}

/// The dice of a thread.
#[derive(Debug)]
pub struct Dice(Rng);

impl rand::TryRng for Dice {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::try_from(self.0.next_u64() >> 32).unwrap_or_default())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let drawn = self.0.next_u64().to_le_bytes();
            chunk.iter_mut().zip(drawn).for_each(|(byte, drawn)| *byte = drawn);
        }
        Ok(())
    }
}

impl AsyncRuntime for Runtime {
    type JoinError = <TokioRuntime as AsyncRuntime>::JoinError;
    type JoinHandle<T: OptionalSend + 'static> = <TokioRuntime as AsyncRuntime>::JoinHandle<T>;
    type Sleep = <TokioRuntime as AsyncRuntime>::Sleep;
    type Instant = <TokioRuntime as AsyncRuntime>::Instant;
    type TimeoutError = <TokioRuntime as AsyncRuntime>::TimeoutError;
    type Timeout<R, T: Future<Output = R> + OptionalSend> = <TokioRuntime as AsyncRuntime>::Timeout<R, T>;
    type ThreadLocalRng = Dice;
    type Mpsc = <TokioRuntime as AsyncRuntime>::Mpsc;
    type Watch = <TokioRuntime as AsyncRuntime>::Watch;
    type Oneshot = <TokioRuntime as AsyncRuntime>::Oneshot;
    type Mutex<T: OptionalSend + 'static> = <TokioRuntime as AsyncRuntime>::Mutex<T>;

    fn spawn<T>(future: T) -> Self::JoinHandle<T::Output>
    where
        T: Future + OptionalSend + 'static,
        T::Output: OptionalSend + 'static,
    {
        Spawner::threads().spawn(future)
    }

    fn sleep(duration: Duration) -> Self::Sleep {
        <TokioRuntime as AsyncRuntime>::sleep(duration)
    }

    fn sleep_until(deadline: Self::Instant) -> Self::Sleep {
        TokioRuntime::sleep_until(deadline)
    }

    fn timeout<R, F: Future<Output = R> + OptionalSend>(
        duration: Duration,
        future: F,
    ) -> Self::Timeout<R, F> {
        TokioRuntime::timeout(duration, future)
    }

    fn timeout_at<R, F: Future<Output = R> + OptionalSend>(
        deadline: Self::Instant,
        future: F,
    ) -> Self::Timeout<R, F> {
        TokioRuntime::timeout_at(deadline, future)
    }

    fn is_panic(error: &Self::JoinError) -> bool {
        error.is_panic()
    }

    fn thread_rng() -> Dice {
        DICE.with_borrow_mut(|dice| {
            let dice = dice.get_or_insert_with(|| Rng::from_system().unwrap_or_else(|_| Rng::from_seed(0)));
            Dice(dice.clone())
        })
    }

    fn new(threads: usize) -> Runtime {
        Runtime(TokioRuntime::new(threads))
    }

    fn block_on<F: Future<Output = T>, T>(&mut self, future: F) -> T {
        self.0.block_on(future)
    }

    fn spawn_blocking<F, T>(work: F) -> impl Future<Output = Result<T, io::Error>> + Send
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let work = Spawner::threads().blocking(work);
        async move { work.await.map_err(io::Error::other) }
    }
}
