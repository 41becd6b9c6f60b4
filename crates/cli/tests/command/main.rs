//! Tests of the command as a user meets it: the real binary, real files, what it prints and how it exits.

mod check;
mod common;
mod doubt;
mod examples;
mod live;
mod mistakes;
mod readme;
mod reports;
mod several;
mod verbs;
