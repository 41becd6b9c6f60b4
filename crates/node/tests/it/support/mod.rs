//! Random cases, the simulator's results, and clusters of node processes.

pub(crate) mod cases;
#[cfg(feature = "network")]
pub(crate) mod cluster;

pub(crate) use cases::*;
