//! Experiments in decentralized monitoring: where observations come from, random traces and formulae, and where measures are
//! kept.

pub mod generate;
pub mod periphery;
pub mod store;
