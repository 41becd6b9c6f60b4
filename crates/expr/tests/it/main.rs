//! The block language.

// Random programs against reference evaluators.
mod differential;
// The block language, construct by construct, and against Python.
mod language;
