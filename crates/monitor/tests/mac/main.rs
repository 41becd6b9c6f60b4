//! Recogniser and checker against the tables that define the logic, and the examples of the languages.

mod abstracted;
mod against_tables;
mod examples;
mod java;
mod random;
mod script;
mod tables;
