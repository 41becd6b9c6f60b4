#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
//! The block language: values, expressions and statements in the syntax of Python.
//!
//! Guards, updates and reactions of properties are written in it. A block is compiled once, when its property
//! is loaded, and takes nanoseconds to run.
//!
//! # Data flow
//!
//! `compile` parses the text of the blocks, determines the variables that they share, and emits a
//! [`Program`](program::Program): register code with constants. A [`Machine`](machine::Machine) runs one block
//! at a time on a [`Frame`](machine::Frame): the environment, the event's parameters and a
//! [`Heap`](heap::Heap). An error at run time is a [`Fault`](fault::Fault) with the position of the expression.
//!
//! | modules | contents |
//! | --- | --- |
//! | [`value`], [`heap`], [`text`] | values of 16 bytes, large values, strings outside the heap |
//! | [`compare`], [`show`], `encode`, `decode` | equality, order, hash; values as text; values as bytes |
//! | [`program`], [`machine`], [`fault`] | register code, its interpreter, run-time errors and the budget |
//! | `compile` | the compiler (feature `compile`, needs `std`) |
//! | [`diag`] | source positions and diagnostics of all front ends |
//!
//! # Invariants
//!
//! - Values and heaps contain no pointers: they are copied, compared and sent as bytes.
//! - Every block terminates: loops, calls and operations on large values spend a [`Budget`](fault::Budget).
//! - A block never panics, whatever its input.
//!
//! ```
//! use invigil_expr::{compare::ValueReader, fault::Budget, heap::Heap, text::TextArenas, value::Value};
//! let mut heap = Heap::default();
//! let name = heap.new_str("a string that does not fit into a value").unwrap();
//! let view = ValueReader { heap: &heap, texts: TextArenas::NONE };
//! assert!(view.equal(Value::int(1), Value::TRUE, &mut Budget::new(10)).unwrap());
//! assert_eq!(view.type_name(name), "str");
//! ```

extern crate alloc;

mod builtins;
pub mod compare;
#[cfg(feature = "compile")]
pub mod compile;
mod decode;
pub mod diag;
mod encode;
mod fast_block;
pub mod fault;
pub mod heap;
pub mod machine;
mod methods;
mod operators;
pub mod program;
pub mod show;
mod table;
pub mod text;
pub mod value;
