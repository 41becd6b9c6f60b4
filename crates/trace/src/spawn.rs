//! Threads, which a system may refuse: what one was to work on then comes back.

use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};

/// Runs `work` on `item` in a thread of its own; gives the item back if there is no thread to be had.
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
    // What a thread that never starts has captured is lost: so it is sent to one that did.
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
    fn the_item_reaches_the_thread_or_comes_back() {
        let (say, hear) = channel();
        let thread = spawn(7, move |item| say.send(item).unwrap()).unwrap();
        thread.join().unwrap();
        assert_eq!(hear.recv(), Ok(7));
        // No machine has a stack of this size to give.
        let refused = spawn_as(Builder::new().stack_size(1 << 60), 7, |_| panic!("there is such a machine"));
        assert_eq!(refused.err(), Some(7));
    }
}
