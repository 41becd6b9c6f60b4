//! The input languages.

// Decentralized specifications.
mod dec;
// Diagnostics, rendered and compared with files.
mod diagnostics;
// DVE models and the BEEM database.
mod dve;
// Formulas as properties of events.
mod formula_properties;
// PEDL and MEDL scripts.
mod mac;
// The modelling language, claims and reduction.
mod model;
// Properties: grammar, diagnostics, meaning, slicing, state.
mod prop;
// The scenario language.
mod scenarios;
