//! Rules about the workspace as a whole.

/// Retired names and phrases do not come back.
mod vocabulary;
