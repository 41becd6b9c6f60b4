//! Live native programs: controlled by ptrace, observed by traps and probes.
//!
//! A [`NativeTarget`] is launched from a [`Launch`] or attached to a process. The session passes it an event catalog;
//! the target finds the sites of the events in the debug information, instruments them, runs the program, and turns
//! each stop into events, breakpoints or watchpoints. Events reach the monitors in one of two ways:
//!
//! * **Trap**: `int3` → `tracer` decodes the stop → `native_target` dispatches it → `events` reads the parameters → the
//!   session steps its monitors.
//! * **Probe**: a jump → a trampoline → the probe library in the target (`invigil-probe`), which steps the embedded
//!   monitors. The debugger is involved only if a reaction is due, and then fetches the replay log (`probes`).
//!
//! | module | purpose |
//! | --- | --- |
//! | `launch`, `images`, `maps`, `memory` | start or seize a process; what is mapped in it |
//! | `sys`, [`inject`], `traced_thread` | ptrace; system calls in a stopped thread; state of a thread |
//! | `tracer` | waits for stops and decodes them; resumes and stops threads |
//! | `sites`, `trap_reasons`, `displaced_step` | trap sites, the reasons for them, and passing a trap |
//! | `native_target` | run loop: dispatches each stop to its owners |
//! | `target_impl` | the target as a session sees it |
//! | `events` | from event declarations to sites, and from stops to events |
//! | `probes` | probes, trampolines and embedded monitors; recording |
//! | `cpu_affinity` | pins the debugger and a thread it alternates with to one CPU |
//! | `breakpoints`, `watchpoints`, `stepping` | what stops the target for the user |
//! | `linespec`, `inspect` | locations and expressions at the prompt |
//! | [`checkpoint`], `checkpoint_table` | copies of the process, and the debugger's state that belongs to them |
//!
//! # Invariants
//!
//! * All ptrace requests are made by the thread that created the target.
//! * While all threads are stopped, no probe's jump is in memory, and every thread is at its logical address: not in a
//!   trampoline, not in a displaced copy, not after a trap. So inspection, steps and checkpoints need not know of
//!   probes.
//! * A site notifies its owners in the order user, scenario, monitors, each once per arrival of a thread.
//!
//! # Example
//!
//! ```no_run
//! use invigil_native::{Launch, NativeTarget};
//!
//! let target = NativeTarget::launch(&Launch::new("./faulty").arg("input.txt"))?;
//! println!("process {} is stopped before its first instruction", target.process());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("native programs are supported on x86-64 Linux only");

mod breakpoints;
pub mod checkpoint;
mod checkpoint_table;
mod cpu_affinity;
mod displaced_step;
mod events;
mod images;
pub mod inject;
mod inspect;
mod launch;
mod linespec;
mod maps;
mod memory;
mod native_target;
mod probes;
mod sites;
mod stepping;
mod sys;
mod target_impl;
mod traced_thread;
mod tracer;
mod trap_reasons;
mod watchpoints;

pub use invigil_target::stream::Stream;
pub use launch::Launch;
pub use native_target::NativeTarget;
pub use probes::{ProbeMode, RecordingOptions, RecordingResult, RecordingSink};
