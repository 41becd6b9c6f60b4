//! The debugger for models and other subjects whose executions can be explored.
//!
//! [`debug`] is the entry point. It executes commands of the user or of a script on the unified debugger of
//! [`invigil_explore::debugger`], whose history is a tree: each branch is a universe, that is, an alternative
//! execution \[Teo23\]. It works on any subject that implements the semantic interface; a [`SubjectSyntax`] parses
//! the user's expressions, formulae and names. [`ModelSyntax`] is the syntax of models.

mod breakpoints;
mod command;
mod display;
mod files;
mod help;
mod inspection;
mod model_debugger;
mod model_syntax;
mod navigation;
mod repl;
mod search;
mod subject_syntax;
mod tree;

pub use model_syntax::{ModelSyntax, Parser, execution};
pub use repl::{Input, ReplConfig, ReplOutcome, debug};
pub use subject_syntax::{StepEvaluator, SubjectSyntax};
