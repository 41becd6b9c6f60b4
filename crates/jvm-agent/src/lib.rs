//! The Java agent: the part of Invigil that runs inside a virtual machine.
//!
//! As a shared library it is loaded by a virtual machine, at its start (`-agentpath`) or later. It weaves probes into
//! classes, reports what happens, steps embedded monitors and answers the debugger's requests. As a Rust library it
//! gives the debugger what both sides share: the [`protocol`] with its [`values`], and the syntax of names and
//! expressions ([`names`], [`entity`], [`expression`]).
//!
//! An event takes this path: a woven probe calls a native method of the helper class (`probe_entry`); `on_probe` finds
//! its site in the `probe_table`, captures the values (`int_capture` on the fast path, `probe_site` otherwise), and
//! gives them to the `monitor_host`; if a reaction is due, or no monitors are embedded, the `event_channel` sends them
//! and blocks the thread until the debugger resumes it.
//!
//! | module | contents |
//! | --- | --- |
//! | `startup`, `agent` | entry points and callbacks of the virtual machine; the agent's state |
//! | `requests`, `event_channel`, [`protocol`] | the two connections to the debugger |
//! | `prepare`, `subscription`, `probe_site` | what is to be reported, and where and how its values are captured |
//! | `weaving`, [`instrument`], [`offline_probes`] | weaving of classes as they load, and on disk |
//! | `probe_entry`, `probe_table`, `on_probe`, `int_capture` | the path of an event |
//! | `monitor_host`, `biased_lock`, `ticks` | embedded monitors and scripts |
//! | `object_ids`, `reaper` | object ids, and slices of collected objects |
//! | `tracked_path`, `construction` | variables that are reached through other objects |
//! | `line_breakpoints`, `steps`, `inspect`, `evaluate`, `invoke` | the debugger's commands |
//! | `vm` | JNI and JVMTI |
//!
//! Invariants: no panic unwinds into the virtual machine; no lock of the agent is held while the program's code runs;
//! at most one thread at a time waits for the debugger with an event.

mod agent;
mod biased_lock;
mod construction;
pub mod entity;
mod evaluate;
mod event_channel;
pub mod expression;
mod inspect;
pub mod instrument;
mod int_capture;
mod invoke;
mod line_breakpoints;
mod monitor_host;
pub mod names;
mod object_ids;
pub mod offline_probes;
mod on_probe;
mod prepare;
mod probe_entry;
mod probe_site;
mod probe_table;
pub mod protocol;
mod reaper;
mod requests;
mod startup;
mod steps;
mod subscription;
mod ticks;
mod tracked_path;
pub mod values;
mod vm;
mod weaving;
