//! Probes give what traps give: the same verdicts, the same stops, whatever the program does.

mod common;
mod damage;
mod ends;
mod everything;
mod passed;
mod recording;
mod scripts;
mod signals;
mod stops;
mod tails;
mod threads;
mod toggles;
