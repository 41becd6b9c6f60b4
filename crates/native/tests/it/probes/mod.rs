//! Probes have the same results as traps: the same verdicts, the same stops, whatever the program does.

mod all_functions;
mod common;
mod crashes;
mod entry_arguments;
mod memory_corruption;
mod recording;
mod scripts;
mod signals;
mod stops;
mod tail_calls;
mod threads;
mod toggling;
