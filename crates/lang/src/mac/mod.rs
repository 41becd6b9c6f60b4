//! Both scripts of a monitor, PEDL and MEDL, and what they share: Java's tokens and expressions, with events among them.
//!
//! An expression is a list of [`Node`](ast::Node)s in which operands stand before what is made of them. So it can be
//! checked and compiled in one pass, and nothing that walks it needs a stack, however long the expression is.

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

pub use load::{Loaded, load};
