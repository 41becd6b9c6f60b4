//! Java programs that really run.

mod common;
mod events;
mod look;
mod ends;
mod points;
