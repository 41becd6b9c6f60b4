//! Java programs that really run.

mod common;
mod debuggers;
mod ends;
mod events;
mod gone;
mod inside;
mod look;
mod mirror;
mod names;
mod points;
mod scripts;
mod steering;
