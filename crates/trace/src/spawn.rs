//! Spawning threads; if the system refuses one, the work item is returned.

use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};

/// Runs `work` on `item` in a new thread. Returns the item if no thread can be created.
pub(crate) fn spawn<T: Send + 'static>(
    item: T,
    work: impl FnOnce(T) + Send + 'static,
) -> Result<JoinHandle<()>, T> {
    spawn_as(Builder::new(), item, work)
}

fn spawn_as<T: Send + 'static>(
    builder: Builder,
    item: T,
    work: impl FnOnce(T) + Send + 'static,
) -> Result<JoinHandle<()>, T> {
    // A closure that was captured by a thread that never starts is lost, so the item is sent to the running thread.
    let (give, take) = channel();
    let spawned = builder.spawn(move || {
        if let Ok(item) = take.recv() {
            work(item);
        }
    });
    match spawned {
        Ok(thread) => give.send(item).map(|()| thread).map_err(|unsent| unsent.0),
        Err(_) => Err(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spawn_passes_the_item_or_returns_it() {
        let (sender, receiver) = channel();
        let thread = spawn(7, move |item| sender.send(item).unwrap()).unwrap();
        thread.join().unwrap();
        assert_eq!(receiver.recv(), Ok(7));
        // No machine can provide a stack of this size.
        let result = spawn_as(Builder::new().stack_size(1 << 60), 7, |_| panic!("the thread was created"));
        assert_eq!(result.err(), Some(7));
    }
}
