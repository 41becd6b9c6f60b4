//! The formal model of interactive runtime verification [Jakse 2019, chapter 3], as a semantics on random
//! small programs. Its propositions are checked, and the order in which the implementation notifies owners
//! (`invigil_target::pending_owners`) is compared with it.
//!
//! # Location of the rules
//!
//! | thesis | here | decision |
//! | --- | --- | --- |
//! | definitions 3.2.1.1–3.2.1.8 | `program::Program`, `ProgramState`, `run_instr`, `get_accesses`, `sym_t` | code and data in one memory; pointers stay in the data, jumps in the code; no frames |
//! | figure 3.3: NORMALEXEC, BPHIT | `Semantics for Program` | |
//! | definitions 3.2.2.1–3.2.3.2, figure 3.2 | `points::{Point, SymbolicEvent, Event, evt2pts, instantiate}` | |
//! | definition 3.3.3.1 | `controlled::{Debugged, Debugger, Reading}` | the rules serve one point, the outputs defined are sets: all three readings are here |
//! | figure 3.4: DEVWATCH, SCNWATCH, EVTWATCH, `restoreBP` | `Controlled::watch`, `due_watch`, `serve`, `Debugged::restore_bp` | [5], [6] |
//! | figure 3.5 (missing): DEVBREAK, SCNBREAK, EVTBREAK, TRAPNOBREAK | `Controlled::trap` | from the prose; [5], [6] |
//! | figure 3.6: NORMALEXEC, `unInstr`, `restoreBPs` | `Controlled::normal_exec`, `un_instr`, `restore_bps` | [1], [7] |
//! | figure 3.7 (missing): CLEAREVENTS, INSTRUMENT | `Debugged::{clear_events, instrument}` | from the prose; [5] |
//! | figure 3.8: SETBREAK, RMBREAK, SETWATCH, RMWATCH | `Debugged::{set_point, remove_point}` | breakpoints on data are refused (remark 3.3.3.1) |
//! | figure 3.9: CKPT, RESTORE | `Debugged::{checkpoint, restore}` | [2], [3], [4] |
//! | figure 3.10: STEP, STEPREDO, INT, CONT | `Controller::step`, `Controlled::command` | STEPREDO is garbled in print: its prose |
//! | figure 3.11: SET…, GET… | `Controlled::command`, `Debugged::set` | [6], [8] |
//! | figure 3.12 (missing): EVENT, CKPT, RESTORE | `monitor::Monitor::{events, checkpoint, restore}` | from the prose; [9] |
//! | definition 3.3.5.1 | `scenario::Scenario` | a table of reactions; [7] |
//! | figure 3.13: INIT, NORMALEXEC | `verified::Verified::{init, run}` | the scenario reacts to the first verdict too |
//! | figure 3.14: EXECPOINT, EXECEVENT, STEPPOINT, STEPEVENT | `Verified::{run, step, after}` | [9] |
//! | figure 3.15: SCNCMD, SCNCMDNOP | `Verified::obey` | [10] |
//! | figure 3.16: CKPT, RESTORE, STEP, OTHERCMD | `Verified::{command, step}` | one number stands for the pair of equal ones |
//! | definition 3.1.2.3 | `weak_simulation::Simulation` | |
//! | definition 3.4.1.1, propositions 3.4.1.1 and 3.4.1.2 | `simulation` | and the traps are where the prose says |
//! | section 3.4.2 | `oracle`, `verdicts` | also after restores, assignments and jumps, which the propositions leave out |
//! | algorithm 11 | `driver::Verified::run_case` | bounded; a step that only takes a trap out is taken again |
//!
//! # Corrected defects
//!
//! Each has a test of its own in `fixed_defects`.
//!
//! | | as printed | here |
//! | --- | --- | --- |
//! | [1] | algorithm 2 neither empties `hdld` nor puts traps back | as rule NORMALEXEC does: both |
//! | [2] | a checkpoint lacks `hdld`: the event at which it was taken occurs again after a restore | it includes it |
//! | [3] | RESTORE writes all traps, but keeps the instructions under the user's alone, and drops the scenario's points | the points of the user and the scenario stay, watchpoints too; the monitors' are those of the checkpoint |
//! | [4] | the number of a checkpoint is counted from zero in the rule, from one in algorithm 7 | from zero |
//! | [5] | a point has one event | any number, all reported, in the order requested |
//! | [6] | GET shows traps and SET destroys them, and so do parameters of events | reads show the program's own words, writes keep the trap |
//! | [7] | the end is detected at the old program counter; a chain of replies longer than one is lost | as in algorithms 1 and 2: when the program is at the end with no owner pending; a queue of commands |
//! | [8] | SETPC leaves a trap out that TRAPNOBREAK took out, and keeps `hdld` | the trap is restored; no owner has been notified at the new address |
//! | [9] | EXECEVENT takes a set of events and one verdict | the monitor has all the events of a step before the scenario reacts to the first verdict, or a checkpoint taken in a reaction would lack the rest |
//! | [10] | a command for which no rule applies blocks the scenario's whole step | it does nothing |
//!
//! # The implementation
//!
//! `by_owners::ByOwners` is an execution controller around `pending_owners::OwnerSet`. In the reading `OncePerPlace`
//! the model and it agree in everything observable. The printed rules mark points rather than owners as handled, and
//! differ in one case: an owner that was notified at an access and sets another watchpoint that matches the same
//! instruction is notified again there. `due_owners` shows that there is no other difference, and that injected faults
//! are detected.

#![forbid(unsafe_code)]

mod by_owners;
mod checkpoints;
mod controlled;
mod controller;
mod driver;
mod due_owners;
mod fixed_defects;
mod monitor;
mod oracle;
mod points;
mod program;
mod random;
mod scenario;
mod simulation;
mod verdicts;
mod verified;
mod weak_simulation;
