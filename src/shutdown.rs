//! The wish to stop, told to everybody who waits for it.

use tokio::sync::watch;

/// Makes the wish. Dropping it makes it, too.
#[derive(Debug)]
pub struct Trigger(watch::Sender<bool>);

/// Hears of it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<bool>);

/// Both ends.
pub fn channel() -> (Trigger, Shutdown) {
    let (sender, receiver) = watch::channel(false);
    (Trigger(sender), Shutdown(receiver))
}

impl Trigger {
    /// Stop, please.
    pub fn request(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// Waits until somebody wants the broker to stop.
    pub async fn requested(&mut self) {
        // An error means that the trigger is gone: nobody could ask any more.
        let _gone = self.0.wait_for(|stop| *stop).await;
    }

    /// True once somebody does.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }
}
