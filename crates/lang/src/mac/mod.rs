//! Infrastructure shared by PEDL and MEDL: tokens, Java expressions with events, formatting, compilation.
//!
//! An expression is a list of [`Node`](ast::Node)s in which operands precede their operator. It is checked and compiled
//! in one pass without recursion, so its length is not limited by the stack.

pub mod ast;
mod expressions;
pub(crate) mod format;
mod literals;
mod load;
pub(crate) mod lower;
pub(crate) mod order;
pub(crate) mod parser;
mod paths;
pub(crate) mod scan;

pub use load::{ScriptPair, load};
