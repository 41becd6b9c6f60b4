//! PEDL and MEDL.

// Helpers.
mod common;
// The scripts of `docs/mac.md`.
mod documents;
// The scripts of the examples.
mod examples;
// The formatter.
mod format;
// The meaning of each construct.
mod language;
// Operator precedence is that of Java.
mod precedence;
// Verdicts of the published scripts.
mod published_scripts;
// Published scripts parse without errors.
mod published_syntax;
