//! Experiments and observations.

// How the Chiron formulae are split.
mod chiron;
// Experiments: independent of the thread count, resumable.
mod experiments;
// Live observations against recorded ones; black-box components.
mod observations;
// A day of the smart home through all its monitors.
mod smart_home;
