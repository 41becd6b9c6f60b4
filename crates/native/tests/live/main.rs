//! Programs that really run.

mod bad;
mod checkpoints;
mod common;
mod events;
mod everywhere;
mod exits;
mod images;
mod look;
mod params;
mod points;
mod starting;
mod steps;
mod system;
mod threads;
mod watch;
