//! Models.

// Declared types of messages.
mod channel_payloads;
// Helpers.
mod common;
// The models of `docs/models.md`.
mod documents;
// Large, deep and random texts.
mod hostile_input;
// The meaning of each construct.
mod language;
// Models composed with properties against separate stepping.
mod monitored_models;
// Expressions over models.
pub(crate) mod predicates;
// Formulae on reduced models against full ones.
mod stutter_invariance;
// Random formulae on random models against their definition.
mod temporal_claims;
