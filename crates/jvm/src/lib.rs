//! Live Java programs: a virtual machine with the agent inside, as a subject of a session.
//!
//! [`Launch`] says how a program is started, [`Target`] is the program. The agent is a library of its own
//! (`invigil-jvm-agent`), which [`library`] finds.

#[cfg(not(target_os = "linux"))]
compile_error!("Java programs can be watched on Linux only, so far");

mod attach;
mod classpath;
mod events;
mod launch;
mod library;
mod link;
mod look;
mod points;
mod run;
mod sources;
mod subject;
mod target;

pub use attach::is_machine;
pub use launch::{Launch, Stream, is_java};
pub use library::library;
pub use target::Target;
