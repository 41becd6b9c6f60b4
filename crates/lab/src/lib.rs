//! Experiments in decentralized monitoring: sources of observations, opaque monitors, random inputs, benchmarks and
//! their results. The monitors themselves are in `invigil-decent`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`inputs`] | observations of components: trace folders, event logs, tables of states, sensors, live inputs |
//! | [`black_box`] | properties and scripts as opaque monitors of a component |
//! | [`generate`] | random systems, traces, formulae and days in a home with sensors |
//! | [`detect`] | activity detection: verdicts of monitors compared with annotations |
//! | [`experiment`] | every algorithm on every formula and trace, on all cores |
//! | [`synthetic`] | the synthetic benchmark of [EH18 §8.2.3] |
//! | [`store`], [`published`], [`plot`] | measurements in SQLite, published figures for comparison, plots as SVG |
//!
//! Invariants: everything random is determined by a seed. A run that is in the store is not repeated.

pub mod black_box;
pub mod detect;
pub mod experiment;
pub mod generate;
pub mod inputs;
pub mod plot;
pub mod published;
pub mod store;
pub mod synthetic;
