//! The interface for parsing the user's expressions, formulae and names for a subject.

use invigil_explore::breakpoint_search::{Automaton, Breakpoint};
use invigil_semantics::{Evaluate, StepRef};

/// Function that evaluates an expression on a step and renders its value.
pub type StepEvaluator<'d, S> = Box<dyn Fn(StepRef<'_, S>) -> Result<String, String> + 'd>;

/// Parses expressions, formulae and names for subjects of type `S`. Errors are rendered messages.
pub trait SubjectSyntax<S: Evaluate> {
    /// Parses a condition on a step.
    ///
    /// # Errors
    /// If the text is not valid.
    fn predicate(&self, text: &str) -> Result<S::Expr, String>;

    /// The condition that a step executes an action with this name.
    ///
    /// # Errors
    /// If there is no such action.
    fn named(&self, name: &str) -> Result<S::Expr, String>;

    /// Parses an expression whose value is shown.
    ///
    /// # Errors
    /// If the text is not valid.
    fn value<'d>(&'d self, text: &str) -> Result<StepEvaluator<'d, S>, String>
    where
        S: 'd;

    /// Translates a formula of temporal logic to an automaton for the executions that satisfy it, starting at the
    /// current configuration.
    ///
    /// # Errors
    /// If the text is not a formula, or the subject does not support formulae.
    fn formula(&self, text: &str) -> Result<Automaton<S::Expr>, String> {
        Err(format!("this subject does not support formulae such as `{text}`"))
    }

    /// Loads a property from a file, as a breakpoint at its violations.
    ///
    /// # Errors
    /// If the file is invalid, or the subject does not support properties.
    fn property<'d>(&'d self, file: &str) -> Result<Breakpoint<'d, S>, String>
    where
        S: 'd,
    {
        Err(format!("this subject does not support properties, so `{file}` cannot be used"))
    }

    /// Name of the process that executes an action, if any.
    fn actor(&self, _: &S::Action) -> Option<String> {
        None
    }

    /// Names for completion.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}
