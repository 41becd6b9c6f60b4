//! Tests of the command as a user meets it: the real binary, real files, what it prints and how it exits.

mod attach;
mod check;
mod common;
mod demo;
mod doubt;
mod examples;
mod formulae;
mod formulae_told;
mod live;
mod mistakes;
mod program;
mod prompt;
mod readme;
mod reports;
mod run;
mod several;
mod verbs;
mod zsh;
