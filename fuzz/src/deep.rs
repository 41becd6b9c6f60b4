//! Runs targets on a large stack: the compilers are recursive, and the command runs them on a thread with this stack.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// Stack size of the thread on which the command compiles.
pub const LARGE_STACK: usize = 256 << 20;

type Job = (fn(&[u8]), Vec<u8>);

/// A thread with a large stack. It is reused, because starting a thread takes longer than most inputs.
struct Worker {
    jobs: Sender<Job>,
    results: Receiver<()>,
}

impl Worker {
    fn start() -> Worker {
        let (jobs, received_jobs) = channel::<Job>();
        let (sender, results) = channel();
        let run_jobs = move || {
            for (work, data) in received_jobs {
                work(&data);
                if sender.send(()).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().stack_size(LARGE_STACK).spawn(run_jobs).expect("a thread with a large stack");
        Worker { jobs, results }
    }
}

/// Runs `work` on `data` on a thread with a large stack.
///
/// # Panics
/// If `work` panics.
pub fn run_on_large_stack(work: fn(&[u8]), data: &[u8]) {
    static WORKER: OnceLock<Mutex<Worker>> = OnceLock::new();
    let worker = WORKER.get_or_init(|| Mutex::new(Worker::start()));
    let worker = worker.lock().unwrap_or_else(PoisonError::into_inner);
    let sent = worker.jobs.send((work, data.to_vec()));
    assert!(sent.is_ok() && worker.results.recv().is_ok(), "the target panicked");
}
