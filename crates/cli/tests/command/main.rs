//! Tests of the command as a user meets it: the real binary, real files, what it prints and how it exits.

mod check;
mod common;
mod examples;
mod mistakes;
mod reports;
mod verbs;
