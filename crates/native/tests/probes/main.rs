//! Probes give what traps give: the same verdicts, the same stops, whatever the program does.

mod common;
mod ends;
mod passed;
mod signals;
mod stops;
mod threads;
