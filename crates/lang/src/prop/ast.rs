//! Syntax tree of a property: names are not resolved and blocks are still text.

use crate::block::{Dedented, dedent};
use invigil_expr::diag::Span;
use invigil_monitor::event::{EventKind, ParamSource, ParamType};

/// A whole property file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Property {
    /// The parameters of `slice on`, in order.
    pub slice_on: Vec<Name>,
    /// The `initialization` block, which sets the property's variables.
    pub initialization: Option<Block>,
    /// The states, in source order.
    pub states: Vec<State>,
}

/// A name with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name itself, without the quotes that an event's name may be written in.
    pub text: String,
    /// Its position.
    pub span: Span,
}

/// A block of Python with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The text between the braces.
    pub text: String,
    /// The position of that text, without the braces.
    pub span: Span,
    /// The column at which the text starts, counted from zero.
    pub column: u32,
}

impl Block {
    /// Dedents the block to a program that starts in column zero and maps back to the file.
    ///
    /// ```
    /// use invigil_expr::diag::SourceId;
    /// let (property, _) = invigil_lang::prop::parse(SourceId(0), "initialization {\n    N = 0\n}\nstate init");
    /// let program = property.initialization.unwrap().dedent();
    /// assert_eq!((program.text.as_str(), program.to_file(0)), ("N = 0", 21));
    /// ```
    pub fn dedent(&self) -> Dedented {
        dedent(&self.text, self.span.start, self.column)
    }
}

/// A call in a state or a branch of a transition, such as `sink_reached()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The function.
    pub name: Name,
    /// The whole call, a Python expression.
    pub text: String,
    /// The position of the whole call.
    pub span: Span,
}

/// Whether a state is `accepting` or `non-accepting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// The property holds in this state.
    Accepting,
    /// The property is violated in this state.
    NonAccepting,
}

/// A state of the automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The name; empty after a syntax error.
    pub name: Name,
    /// The modifier `accepting` or `non-accepting`, with its position.
    pub acceptance: Option<(Acceptance, Span)>,
    /// The position of the modifier `final`: slices that enter the state are dropped.
    pub final_span: Option<Span>,
    /// The call made when the state is entered.
    pub action: Option<Action>,
    /// The states whose transitions are imported.
    pub imports: Vec<Name>,
    /// Its own transitions, in source order.
    pub transitions: Vec<Transition>,
    /// From the word `state` to the end.
    pub span: Span,
}

/// A transition: an event, a guard and two branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The event that it reacts to.
    pub event: EventPattern,
    /// The guard.
    pub guard: Option<Block>,
    /// The branch taken if the guard is true or absent.
    pub success: Option<Branch>,
    /// The branch for a false guard.
    pub failure: Option<Branch>,
    /// From the word `transition` to the closing brace.
    pub span: Span,
}

/// A branch of a transition: `success` or `failure`. At least one of its parts is present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The update.
    pub block: Option<Block>,
    /// The call.
    pub action: Option<Action>,
    /// The next state; without one, the state does not change.
    pub target: Option<Name>,
    /// From the word `success` or `failure` to the end.
    pub span: Span,
}

/// The event that a transition reacts to, with the parameters that it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern {
    /// The event kind.
    pub kind: EventKind,
    /// The function, variable or line; or a predefined event such as `#join`.
    pub name: Name,
    /// The parameters, in source order.
    pub params: Vec<Param>,
    /// From the first word to the closing parenthesis.
    pub span: Span,
}

/// A parameter of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Where its value comes from.
    pub source: ParamSource,
    /// The name in blocks: the word after `as`, or one derived from the source (`arg 1` is `arg1`, `*p` is `p`,
    /// `#ecid` is `ecid`).
    pub name: Name,
    /// The required type.
    pub ty: Option<(ParamType, Span)>,
}
