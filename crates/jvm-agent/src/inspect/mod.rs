//! Inspecting and changing a stopped program.

pub(crate) mod assign;
pub(crate) mod render;
pub(crate) mod scope;
pub(crate) mod stack;
pub(crate) mod threads;
