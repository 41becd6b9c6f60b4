//! Sessions.

// The formal model, its propositions, and the implementation against it.
mod formal;
// Sessions over a scripted program.
mod session;
