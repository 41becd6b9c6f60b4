//! Commands over a scripted program: what they do, what they say, and what they refuse.

mod common;
mod fake;
mod finding;
mod looking;
mod properties;
mod running;
mod sessions;
mod time;
