//! Live native programs: ptrace, points, watchpoints, checkpoints.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("native programs can be watched on x86-64 Linux only, so far");

mod affinity;
mod displace;
mod engine;
mod events;
pub mod freeze;
mod images;
pub mod inject;
mod inline;
mod keep;
mod launch;
mod look;
mod maps;
mod memory;
mod place;
mod points;
mod sites;
mod stepping;
mod subject;
mod sys;
mod target;
mod task;
mod uses;
mod watch;

pub use inline::{Probes, Recorded, Recording, Sink};
pub use invigil_session::stream::Stream;
pub use launch::Launch;
pub use target::Target;
