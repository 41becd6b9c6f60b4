//! Experiments in decentralized monitoring: where observations come from, random traces and formulae, and where measures are
//! kept.

pub mod boxes;
pub mod detect;
pub mod experiment;
pub mod generate;
pub mod periphery;
pub mod plot;
pub mod published;
pub mod store;
pub mod synthetic;
