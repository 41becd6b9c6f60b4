//! The agent: the part of Invigil that lives inside a Java virtual machine.
//!
//! As a shared library it is loaded by a virtual machine (`-agentpath`, or later), weaves probes into classes, tells the
//! tool what happens and answers its questions. As a Rust library it is what the tool needs to talk with it: the
//! [`protocol`] with its [`values`], and how users name things ([`names`], [`expression`]).

mod agent;
mod building;
pub mod entity;
mod evaluate;
pub mod expression;
mod fire;
mod gate;
mod hook;
mod identity;
mod inside;
pub mod instrument;
mod invoke;
mod lines;
mod load;
mod look;
pub mod marks;
pub mod names;
mod news;
mod path;
mod place;
mod prepare;
mod probes;
pub mod protocol;
mod route;
mod serve;
mod steps;
mod sweep;
mod table;
mod ticks;
pub mod values;
mod vm;
mod want;
