//! The debugger for models, and for anything else whose behaviours can all be looked at.
//!
//! [`debug`] is the whole program: it takes commands from a person or from a script, and drives the unified debugger
//! of [`invigil_explore::debugger`] with a tree of universes as its history. It works on any subject that can be
//! shown and asked; what a person writes is read by a [`Dialect`]. [`Readers`] is that of models.

mod breaks;
mod command;
mod dialect;
mod files;
mod help;
mod journey;
mod looking;
mod model;
mod moving;
mod program;
mod running;
mod show;
mod tree;

pub use dialect::{Dialect, Value};
pub use model::{Reader, Readers, execution};
pub use program::{Ending, Input, Setting, debug};
