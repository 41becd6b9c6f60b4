//! From expressions as they are written to those that run: one pass over the nodes.

use super::ast::{At, Expr, Kind, Literal, Moment, Node, Path};
use crate::reading::cursor::MAX_PROBLEMS;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_monitor::mac::{Binary, ExprId, Mismatch, OccurrenceId, Parts, Type, Unary};
use std::collections::HashSet;

/// What a script becomes, and what is wrong with it.
#[derive(Default)]
pub(crate) struct Build {
    pub(crate) parts: Parts,
    pub(crate) problems: Vec<Diagnostic>,
    /// How many problems have been looked at, and how many errors were among them.
    counted: (usize, usize),
}

impl Build {
    /// Complains.
    pub(crate) fn problem<T>(&mut self, problem: Diagnostic) -> Option<T> {
        self.problems.push(problem);
        None
    }

    /// Complains about what does not fit.
    pub(crate) fn fits<T>(&mut self, span: Span, made: Result<T, Mismatch>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(mismatch) => {
                self.problem(Diagnostic::error(span, mismatch.to_string()).label("does not fit"))
            }
        }
    }

    /// Whether there is so much to complain about that the rest is not worth looking at. Remarks do not count: what has
    /// no errors is looked at to its end.
    pub(crate) fn is_full(&mut self) -> bool {
        let (looked_at, errors) = self.counted;
        let new = self.problems[looked_at..].iter().filter(|problem| problem.is_error()).count();
        self.counted = (self.problems.len(), errors + new);
        self.counted.1 >= MAX_PROBLEMS
    }

    /// What is to be told, if there is not too much of it.
    pub(crate) fn finish(mut self) -> (Parts, Vec<Diagnostic>) {
        if self.problems.len() >= MAX_PROBLEMS {
            self.problems.sort_by_key(|problem| !problem.is_error());
            self.problems.truncate(MAX_PROBLEMS);
            let (severity, span) =
                self.problems.last().map_or_else(Default::default, |last| (Some(last.severity), last.span));
            let mut more = Diagnostic::warning(span, "there may be more to say of this script");
            more.severity = severity.unwrap_or(more.severity);
            self.problems.push(more.label("told up to here").help("mend what is told first"));
        }
        (self.parts, self.problems)
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.problems.iter().any(Diagnostic::is_error)
    }
}

/// What a part of an expression has become.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Made {
    /// A value; a condition, if it is a `boolean`.
    Value(ExprId),
    /// Something that happens.
    Event(OccurrenceId),
}

/// What is known of a value that an event carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// Its type, or that there is no such value.
    Known,
    /// That it is an object.
    Object,
    /// Nothing: nobody said which values the event carries.
    Untold,
    /// Nothing: the definition of the event has mistakes.
    Broken,
}

/// The names that expressions speak of.
pub(crate) trait Names {
    /// A variable, a constant, a condition or an event.
    fn path(&mut self, build: &mut Build, path: &Path) -> Option<Made>;

    /// The new value of an auxiliary variable.
    fn primed(&mut self, build: &mut Build, name: &str, span: Span) -> Option<Made> {
        let message = format!("`{name}'` has a prime, and there are no auxiliary variables here");
        let problem = Diagnostic::error(span, message).label("not a variable of MEDL");
        build.problem(problem.help("auxiliary variables are declared and changed in MEDL scripts"))
    }

    /// `update(x)`
    fn update(&mut self, build: &mut Build, path: &Path) -> Option<Made> {
        build.problem(no_program(path))
    }

    /// What is known of a value of a named event.
    fn carried(&self, _event: &str, _index: u32) -> Carried {
        Carried::Known
    }

    /// `startM(f)` and its like.
    fn method(&mut self, build: &mut Build, _: Moment, path: &Path) -> Option<Made> {
        build.problem(no_program(path))
    }
}

/// Complains about a name of the watched program where none is known.
pub(crate) fn no_program(path: &Path) -> Diagnostic {
    let problem =
        Diagnostic::error(path.span, format!("`{path}` is a name of the program")).label("unknown in MEDL");
    problem
        .help("define a condition or an event with it in the PEDL script, export it there and import it here")
}

/// Makes expressions. Where an expression has mistakes, all of them are told, and it becomes nothing.
pub(crate) struct Maker<'a, N> {
    pub(crate) build: &'a mut Build,
    pub(crate) names: &'a mut N,
}

impl<N: Names> Maker<'_, N> {
    /// An expression, whatever it gives.
    pub(crate) fn any(&mut self, expr: &Expr) -> Option<Made> {
        let mut made: Vec<Option<Made>> = Vec::with_capacity(expr.nodes.len());
        let indices = indices(expr);
        for (at, node) in expr.nodes.iter().enumerate() {
            let one = match indices.contains(&at) || self.build.is_full() {
                true => None,
                false => self.node(expr, node, &made),
            };
            made.push(one);
        }
        made.pop().flatten()
    }

    /// An expression that gives a value.
    pub(crate) fn value(&mut self, expr: &Expr) -> Option<ExprId> {
        let made = self.any(expr)?;
        self.as_value(made, expr.span(), "a value")
    }

    /// An expression that is a condition; `whose` says what needs one.
    pub(crate) fn condition(&mut self, expr: &Expr, whose: &str) -> Option<ExprId> {
        let made = self.any(expr)?;
        let value = self.as_value(made, expr.span(), "a condition")?;
        let ty = self.build.parts.type_of(value).ok()?;
        if ty != Type::Boolean {
            let message = format!("{whose} is a condition, and this is a value of type `{ty}`");
            let problem = Diagnostic::error(expr.span(), message).label("not a condition");
            return self.build.problem(problem.help("compare it with something, as in `x > 0`"));
        }
        Some(value)
    }

    /// An expression that is an event. A condition is one, too: that it becomes true.
    pub(crate) fn event(&mut self, expr: &Expr) -> Option<OccurrenceId> {
        let made = self.any(expr)?;
        self.as_event(made, expr.span())
    }

    fn as_event(&mut self, made: Made, span: Span) -> Option<OccurrenceId> {
        let value = match made {
            Made::Event(event) => return Some(event),
            Made::Value(value) => value,
        };
        let ty = self.build.parts.type_of(value).ok()?;
        if ty == Type::Boolean {
            return self.build.parts.start(value).ok();
        }
        let message = format!("this is a value of type `{ty}`, and an event is needed");
        let problem = Diagnostic::error(span, message).label("not an event");
        self.build
            .problem(problem.help("a condition is an event when it becomes true: compare it, as in `x > 0`"))
    }

    fn as_value(&mut self, made: Made, span: Span, needed: &str) -> Option<ExprId> {
        let Made::Value(value) = made else {
            let message = format!("this is an event, and {needed} is needed");
            let problem = Diagnostic::error(span, message).label("an event happens, and does not last");
            return self.build.problem(problem.help(
                "`e when c` joins an event and a condition, `[e, f)` lasts from one event to another",
            ));
        };
        Some(value)
    }

    fn node(&mut self, expr: &Expr, node: &Node, made: &[Option<Made>]) -> Option<Made> {
        match &node.kind {
            Kind::Literal(literal) => self.literal(literal, node.span).map(Made::Value),
            Kind::Path(path) => self.names.path(self.build, path),
            Kind::Primed(name) => self.names.primed(self.build, name, node.span),
            Kind::Update(path) => self.names.update(self.build, path),
            Kind::Method(moment, path) => self.names.method(self.build, *moment, path),
            Kind::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                match (made[*left]?, made[*right]?) {
                    (Made::Value(_), Made::Value(_)) => self.operator(expr, node, made),
                    (a, b) => self.events(expr, *operator, (*left, a), (*right, b)),
                }
            }
            _ => self.operator(expr, node, made),
        }
    }

    /// What is made of operands.
    fn operator(&mut self, expr: &Expr, node: &Node, made: &[Option<Made>]) -> Option<Made> {
        let mut value = |at: At, needed| self.as_value(made[at]?, expr.nodes[at].span, needed);
        let result = match &node.kind {
            Kind::Binary(operator, left, right) => {
                let (a, b) = (value(*left, "a value"), value(*right, "a value"));
                self.build.parts.binary(*operator, a?, b?).map(Made::Value)
            }
            Kind::Unary(operator, operand) => {
                let operand = value(*operand, "a value")?;
                self.build.parts.unary(*operator, operand).map(Made::Value)
            }
            Kind::Choice(condition, first, second) => {
                let c = value(*condition, "a condition");
                let (a, b) = (value(*first, "a value"), value(*second, "a value"));
                self.build.parts.choose(c?, a?, b?).map(Made::Value)
            }
            Kind::Cast(ty, operand) => {
                let operand = value(*operand, "a value")?;
                self.build.parts.cast(*ty, operand).map(Made::Value)
            }
            Kind::Defined(operand) => {
                let operand = value(*operand, "a condition")?;
                self.build.parts.defined(operand).map(Made::Value)
            }
            Kind::Start(condition) => {
                let condition = value(*condition, "a condition")?;
                self.build.parts.start(condition).map(Made::Event)
            }
            Kind::End(condition) => {
                let condition = value(*condition, "a condition")?;
                self.build.parts.end(condition).map(Made::Event)
            }
            Kind::When(event, condition) => {
                let condition = value(*condition, "a condition");
                let event = self.as_event(made[*event]?, expr.nodes[*event].span);
                self.build.parts.when(event?, condition?).map(Made::Event)
            }
            Kind::Interval(from, to) => {
                let begin = made[*from].and_then(|made| self.as_event(made, expr.nodes[*from].span));
                let end = made[*to].and_then(|made| self.as_event(made, expr.nodes[*to].span));
                self.build.parts.interval(begin?, end?).map(Made::Value)
            }
            Kind::Time(event) => {
                let event = self.as_event(made[*event]?, expr.nodes[*event].span)?;
                self.build.parts.time(event).map(Made::Value)
            }
            Kind::Value(event, index) => {
                let carrier = expr.carrier(*event);
                let index = self.index(&expr.nodes[*index]);
                let event = self.as_event(made[*event]?, expr.nodes[*event].span)?;
                let index = index?;
                if let Some(name) = carrier {
                    self.known(name, index, node.span)?;
                }
                self.build.parts.value(event, index).map(Made::Value)
            }
            // The others have no operands.
            _ => return None,
        };
        let fitting = self.build.fits(node.span, result);
        if fitting.is_none()
            && let Some(problem) = self.build.problems.last_mut()
        {
            problem.help = remedy(&node.kind).map(str::to_owned);
        }
        fitting
    }

    /// `e && f` or `e || f`, where at least one is an event.
    fn events(&mut self, expr: &Expr, operator: Binary, left: (At, Made), right: (At, Made)) -> Option<Made> {
        for (at, made) in [left, right] {
            let node = &expr.nodes[at];
            if let Made::Value(_) = made {
                let message = "a condition among events counts as `start(…)` of it";
                let problem = Diagnostic::warning(node.span, message).label("this is a condition");
                let help = "to ask whether it holds when an event happens, write `event when condition`";
                self.build.problems.push(problem.help(help));
            }
            let is_other = |inner: Binary| matches!(inner, Binary::And | Binary::Or) && inner != operator;
            if matches!(node.kind, Kind::Binary(inner, ..) if is_other(inner)) && !node.is_grouped {
                let message = "`&&` and `||` are mixed without parentheses";
                let problem = Diagnostic::warning(node.span, message).label("this is read first");
                let help = "others read events from right to left: write parentheses to be clear";
                self.build.problems.push(problem.help(help));
            }
        }
        let a = self.as_event(left.1, expr.nodes[left.0].span);
        let b = self.as_event(right.1, expr.nodes[right.0].span);
        let event = match operator {
            Binary::And => self.build.parts.both(a?, b?),
            _ => self.build.parts.either(a?, b?),
        };
        event.ok().map(Made::Event)
    }

    /// Complains about a value of an imported event of which there is nothing to read.
    fn known(&mut self, event: &str, index: u32, span: Span) -> Option<()> {
        match self.names.carried(event, index) {
            Carried::Known => Some(()),
            Carried::Broken => None,
            Carried::Object => {
                let problem = Diagnostic::error(span, "this value is an object").label("not watched");
                self.build.problem(problem.help("only primitive values and texts are told"))
            }
            Carried::Untold => {
                let problem = Diagnostic::error(span, format!("nobody said which values `{event}` carries"));
                let help = format!("give the PEDL script along, or write `import event {event}(int);`");
                self.build.problem(problem.label("not known").help(help))
            }
        }
    }

    fn literal(&mut self, literal: &Literal, span: Span) -> Option<ExprId> {
        if *literal == Literal::Null {
            let problem = Diagnostic::error(span, "nothing is `null` here").label("objects are not watched");
            return self.build.problem(problem.help("`defined(x)` tells whether a variable has a value"));
        }
        Some(self.build.parts.constant(literal.value()))
    }

    fn index(&mut self, node: &Node) -> Option<u32> {
        if let Kind::Literal(Literal::Int(index)) = node.kind
            && let Ok(index) = u32::try_from(index)
        {
            return Some(index);
        }
        let problem = Diagnostic::error(node.span, "which value is meant must be a plain number");
        self.build.problem(problem.label("not a number").help("values are counted from 0: `value(e, 0)`"))
    }
}

/// The nodes that say which value of an event is meant: they are no expressions.
fn indices(expr: &Expr) -> HashSet<At> {
    let index = |node: &Node| match node.kind {
        Kind::Value(_, index) => Some(index),
        _ => None,
    };
    expr.nodes.iter().filter_map(index).collect()
}

/// What to do about operands that do not fit.
fn remedy(kind: &Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Unary(Unary::Not, _)
        | Kind::Binary(Binary::And | Binary::Or | Binary::Implies, ..)
        | Kind::Start(_)
        | Kind::End(_)
        | Kind::When(..)
        | Kind::Choice(..) => "compare numbers with something, as in `x > 0`",
        Kind::Binary(Binary::Less | Binary::AtMost | Binary::Greater | Binary::AtLeast, ..) => {
            "texts and conditions are only equal (`==`) or not (`!=`)"
        }
        Kind::Binary(Binary::Equal | Binary::NotEqual, ..) => "compare values of the same kind",
        Kind::Unary(..) | Kind::Binary(..) => "this operator is for numbers",
        Kind::Cast(..) => "numbers can be cast to types of numbers",
        Kind::Value(..) => {
            "`update(x)` carries the new value, `startM(f)` the arguments, `endM(f)` these and the result"
        }
        _ => return None,
    })
}
