//! Tests of the command as a user meets it: the real binary, real files, what it prints and how it exits.

mod attach;
mod check;
mod common;
mod demo;
mod doubt;
mod examples;
mod formulae;
mod formulae_told;
mod instrument;
mod java;
mod jvm;
mod live;
mod mac;
mod mistakes;
mod models;
mod program;
mod prompt;
mod readme;
mod remote;
mod reports;
mod run;
mod several;
mod slips;
mod validation;
mod verbs;
mod zsh;
