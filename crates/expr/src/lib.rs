#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
//! The block language: values, conditions and updates, compiled once and run in nanoseconds.

extern crate alloc;

mod builtins;
pub mod compare;
#[cfg(feature = "compile")]
pub mod compile;
mod decode;
pub mod diag;
mod encode;
pub mod fault;
pub mod heap;
pub mod machine;
mod methods;
pub mod program;
mod shortcut;
pub mod show;
mod table;
pub mod text;
pub mod value;
mod work;
