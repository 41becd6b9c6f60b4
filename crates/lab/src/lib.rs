//! Experiments in decentralized monitoring: where observations come from, and random traces and formulae.

pub mod generate;
pub mod periphery;
