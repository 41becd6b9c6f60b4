//! Java programs that really run.

mod common;
mod debuggers;
mod ends;
mod events;
mod look;
mod points;
mod scripts;
