//! Decentralized specifications.

// Large, deep and random texts.
mod hostile_input;
// The published specifications: light switch and smart home.
mod published;
// The XML of THEMIS.
mod themis;
