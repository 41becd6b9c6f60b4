//! Java programs that really run.

mod common;
mod debuggers;
mod ends;
mod events;
mod inside;
mod look;
mod names;
mod points;
mod scripts;
