//! Looking at a program that stands still, and changing it.

pub(crate) mod change;
pub(crate) mod scope;
pub(crate) mod show;
pub(crate) mod stack;
pub(crate) mod threads;
