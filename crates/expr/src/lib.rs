#![cfg_attr(not(feature = "std"), no_std)]
//! The block language: values, conditions and updates, compiled once and run in nanoseconds.

extern crate alloc;

pub mod diag;
pub mod value;
