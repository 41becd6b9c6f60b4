//! Recogniser and checker against reference tables, and published examples.

mod differential;
mod examples;
mod java_arithmetic;
mod random;
mod reference;
mod script;
mod value_abstraction;
