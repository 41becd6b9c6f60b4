//! A large stack: compilers are recursive, and the command runs them on a thread made for that.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// The stack that the command itself gives to its compilers.
pub const STACK: usize = 256 << 20;

type Job = (fn(&[u8]), Vec<u8>);

/// A thread with a large stack that is kept, because starting one for each input takes longer than most
/// inputs do.
struct Worker {
    jobs: Sender<Job>,
    done: Receiver<()>,
}

impl Worker {
    fn start() -> Worker {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, done) = channel();
        let life = move || {
            for (work, data) in inbox {
                work(&data);
                if outbox.send(()).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().stack_size(STACK).spawn(life).expect("a thread with a large stack");
        Worker { jobs, done }
    }
}

/// Runs `work` on `data` where it can recurse deeply.
///
/// # Panics
/// If `work` does.
pub fn deeply(work: fn(&[u8]), data: &[u8]) {
    static WORKER: OnceLock<Mutex<Worker>> = OnceLock::new();
    let worker = WORKER.get_or_init(|| Mutex::new(Worker::start()));
    let worker = worker.lock().unwrap_or_else(PoisonError::into_inner);
    let sent = worker.jobs.send((work, data.to_vec()));
    assert!(sent.is_ok() && worker.done.recv().is_ok(), "the target panicked");
}
