//! Java programs that really run.

mod common;
mod ends;
mod events;
mod look;
mod points;
