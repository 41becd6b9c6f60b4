//! Compiles expressions in one pass over their nodes.

use super::ast::{Expr, Literal, MethodPhase, Node, NodeId, NodeKind, Path};
use crate::parsing::cursor::MAX_DIAGNOSTICS;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_monitor::mac::{Binary, DefinitionError, ExprId, OccurrenceId, ScriptDef, Type, Unary};
use std::collections::HashSet;

/// The output of compilation, with the diagnostics.
#[derive(Default)]
pub(crate) struct Build {
    pub(crate) parts: ScriptDef,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The number of diagnostics already counted, and the errors among them.
    counted: (usize, usize),
}

impl Build {
    /// Reports a diagnostic.
    pub(crate) fn report<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.diagnostics.push(diagnostic);
        None
    }

    /// Returns the value of a result; reports an error as a type mismatch.
    pub(crate) fn or_report_mismatch<T>(
        &mut self,
        span: Span,
        result: Result<T, DefinitionError>,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(mismatch) => {
                self.report(Diagnostic::error(span, mismatch.to_string()).label("type mismatch"))
            }
        }
    }

    /// Whether there are so many errors that the rest is skipped. Warnings do not count: a script without errors is
    /// checked completely.
    pub(crate) fn is_full(&mut self) -> bool {
        let (counted, errors) = self.counted;
        let new = self.diagnostics[counted..].iter().filter(|diagnostic| diagnostic.is_error()).count();
        self.counted = (self.diagnostics.len(), errors + new);
        self.counted.1 >= MAX_DIAGNOSTICS
    }

    /// Returns the output and the diagnostics, limited in number.
    pub(crate) fn finish(mut self) -> (ScriptDef, Vec<Diagnostic>) {
        if self.diagnostics.len() >= MAX_DIAGNOSTICS {
            self.diagnostics.sort_by_key(|diagnostic| !diagnostic.is_error());
            self.diagnostics.truncate(MAX_DIAGNOSTICS);
            let (severity, span) = self
                .diagnostics
                .last()
                .map_or_else(Default::default, |last| (Some(last.severity), last.span));
            let mut more = Diagnostic::warning(span, "further diagnostics were suppressed");
            more.severity = severity.unwrap_or(more.severity);
            self.diagnostics.push(more.label("checked up to here").help("fix the errors reported so far"));
        }
        (self.parts, self.diagnostics)
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// The result of compiling a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Compiled {
    /// A value; conditions are values of type `boolean`.
    Value(ExprId),
    /// An event.
    Event(OccurrenceId),
}

/// What is known about a value that an event carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKnowledge {
    /// Its type is known, or it is known not to exist.
    Known,
    /// It is an object.
    Object,
    /// Unknown: the values of the event are not declared.
    Undeclared,
    /// Unknown: the definition of the event has errors.
    Broken,
}

/// Resolves the names in expressions.
pub(crate) trait NameResolver {
    /// Resolves a variable, constant, condition or event.
    fn path(&mut self, build: &mut Build, path: &Path) -> Option<Compiled>;

    /// Resolves the new value of an auxiliary variable.
    fn primed(&mut self, build: &mut Build, name: &str, span: Span) -> Option<Compiled> {
        let message = format!("`{name}'` has a prime, but auxiliary variables are not available here");
        let diagnostic = Diagnostic::error(span, message).label("not an auxiliary variable");
        build.report(diagnostic.help("auxiliary variables are declared and updated in MEDL scripts"))
    }

    /// Resolves `update(x)`.
    fn update(&mut self, build: &mut Build, path: &Path) -> Option<Compiled> {
        build.report(not_in_medl(path))
    }

    /// Returns what is known about a value of a named event.
    fn event_value(&self, _event: &str, _index: u32) -> ValueKnowledge {
        ValueKnowledge::Known
    }

    /// Resolves `startM(f)` and the like.
    fn method(&mut self, build: &mut Build, _: MethodPhase, path: &Path) -> Option<Compiled> {
        build.report(not_in_medl(path))
    }
}

/// The diagnostic for a name of the target in a script that cannot use it.
pub(crate) fn not_in_medl(path: &Path) -> Diagnostic {
    let diagnostic = Diagnostic::error(path.span, format!("`{path}` is a name of the target program"))
        .label("unknown in MEDL");
    diagnostic.help("use it in a condition or event of the PEDL script, export that and import it here")
}

/// Compiles expressions. All errors of an expression are reported; the result is then `None`.
pub(crate) struct ExpressionCompiler<'a, N> {
    pub(crate) build: &'a mut Build,
    pub(crate) names: &'a mut N,
}

impl<N: NameResolver> ExpressionCompiler<'_, N> {
    /// Compiles an expression of any kind.
    pub(crate) fn compile(&mut self, expr: &Expr) -> Option<Compiled> {
        let mut compiled: Vec<Option<Compiled>> = Vec::with_capacity(expr.nodes.len());
        let indices = indices(expr);
        for (at, node) in expr.nodes.iter().enumerate() {
            let one = match indices.contains(&at) || self.build.is_full() {
                true => None,
                false => self.node(expr, node, &compiled),
            };
            compiled.push(one);
        }
        compiled.pop().flatten()
    }

    /// Compiles an expression to a value.
    pub(crate) fn value(&mut self, expr: &Expr) -> Option<ExprId> {
        let compiled = self.compile(expr)?;
        self.as_value(compiled, expr.span(), "a value")
    }

    /// Compiles an expression to a condition; `name` is that of the definition, for messages.
    pub(crate) fn condition(&mut self, expr: &Expr, name: &str) -> Option<ExprId> {
        let compiled = self.compile(expr)?;
        let value = self.as_value(compiled, expr.span(), "a condition")?;
        let ty = self.build.parts.type_of(value).ok()?;
        if ty != Type::Boolean {
            let message = format!("{name} must be a condition, but this is a value of type `{ty}`");
            let diagnostic = Diagnostic::error(expr.span(), message).label("not a condition");
            return self.build.report(diagnostic.help("compare the value, as in `x > 0`"));
        }
        Some(value)
    }

    /// Compiles an expression to an event. A condition stands for the event at which it becomes true.
    pub(crate) fn event(&mut self, expr: &Expr) -> Option<OccurrenceId> {
        let compiled = self.compile(expr)?;
        self.as_event(compiled, expr.span())
    }

    fn as_event(&mut self, compiled: Compiled, span: Span) -> Option<OccurrenceId> {
        let value = match compiled {
            Compiled::Event(event) => return Some(event),
            Compiled::Value(value) => value,
        };
        let ty = self.build.parts.type_of(value).ok()?;
        if ty == Type::Boolean {
            return self.build.parts.start(value).ok();
        }
        let message = format!("expected an event, found a value of type `{ty}`");
        let diagnostic = Diagnostic::error(span, message).label("not an event");
        self.build.report(
            diagnostic.help("compare the value, as in `x > 0`: a condition is an event when it becomes true"),
        )
    }

    fn as_value(&mut self, compiled: Compiled, span: Span, needed: &str) -> Option<ExprId> {
        let Compiled::Value(value) = compiled else {
            let message = format!("expected {needed}, found an event");
            let diagnostic = Diagnostic::error(span, message).label("an event has no value");
            return self.build.report(diagnostic.help(
                "use `e when c` to combine an event with a condition, or `[e, f)` for the time between two events",
            ));
        };
        Some(value)
    }

    fn node(&mut self, expr: &Expr, node: &Node, compiled: &[Option<Compiled>]) -> Option<Compiled> {
        match &node.kind {
            NodeKind::Literal(literal) => self.literal(literal, node.span).map(Compiled::Value),
            NodeKind::Path(path) => self.names.path(self.build, path),
            NodeKind::Primed(name) => self.names.primed(self.build, name, node.span),
            NodeKind::Update(path) => self.names.update(self.build, path),
            NodeKind::Method(phase, path) => self.names.method(self.build, *phase, path),
            NodeKind::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                match (compiled[*left]?, compiled[*right]?) {
                    (Compiled::Value(_), Compiled::Value(_)) => self.operator(expr, node, compiled),
                    (a, b) => self.events(expr, *operator, (*left, a), (*right, b)),
                }
            }
            _ => self.operator(expr, node, compiled),
        }
    }

    /// Compiles an operator.
    fn operator(&mut self, expr: &Expr, node: &Node, compiled: &[Option<Compiled>]) -> Option<Compiled> {
        let mut value = |at: NodeId, needed| self.as_value(compiled[at]?, expr.nodes[at].span, needed);
        let result = match &node.kind {
            NodeKind::Binary(operator, left, right) => {
                let (a, b) = (value(*left, "a value"), value(*right, "a value"));
                self.build.parts.binary(*operator, a?, b?).map(Compiled::Value)
            }
            NodeKind::Unary(operator, operand) => {
                let operand = value(*operand, "a value")?;
                self.build.parts.unary(*operator, operand).map(Compiled::Value)
            }
            NodeKind::Choice(condition, first, second) => {
                let c = value(*condition, "a condition");
                let (a, b) = (value(*first, "a value"), value(*second, "a value"));
                self.build.parts.choose(c?, a?, b?).map(Compiled::Value)
            }
            NodeKind::Cast(ty, operand) => {
                let operand = value(*operand, "a value")?;
                self.build.parts.cast(*ty, operand).map(Compiled::Value)
            }
            NodeKind::Defined(operand) => {
                let operand = value(*operand, "a condition")?;
                self.build.parts.defined(operand).map(Compiled::Value)
            }
            NodeKind::Start(condition) => {
                let condition = value(*condition, "a condition")?;
                self.build.parts.start(condition).map(Compiled::Event)
            }
            NodeKind::End(condition) => {
                let condition = value(*condition, "a condition")?;
                self.build.parts.end(condition).map(Compiled::Event)
            }
            NodeKind::When(event, condition) => {
                let condition = value(*condition, "a condition");
                let event = self.as_event(compiled[*event]?, expr.nodes[*event].span);
                self.build.parts.when(event?, condition?).map(Compiled::Event)
            }
            NodeKind::Interval(from, to) => {
                let begin =
                    compiled[*from].and_then(|compiled| self.as_event(compiled, expr.nodes[*from].span));
                let end = compiled[*to].and_then(|compiled| self.as_event(compiled, expr.nodes[*to].span));
                self.build.parts.interval(begin?, end?).map(Compiled::Value)
            }
            NodeKind::Time(event) => {
                let event = self.as_event(compiled[*event]?, expr.nodes[*event].span)?;
                self.build.parts.time(event).map(Compiled::Value)
            }
            NodeKind::Value(event, index) => {
                let carrier = expr.carrier(*event);
                let index = self.index(&expr.nodes[*index]);
                let event = self.as_event(compiled[*event]?, expr.nodes[*event].span)?;
                let index = index?;
                if let Some(name) = carrier {
                    self.check_event_value(name, index, node.span)?;
                }
                self.build.parts.value(event, index).map(Compiled::Value)
            }
            // All others have no operands.
            _ => return None,
        };
        let checked = self.build.or_report_mismatch(node.span, result);
        if checked.is_none()
            && let Some(diagnostic) = self.build.diagnostics.last_mut()
        {
            diagnostic.help = remedy(&node.kind).map(str::to_owned);
        }
        checked
    }

    /// Compiles `e && f` or `e || f` where at least one operand is an event.
    fn events(
        &mut self,
        expr: &Expr,
        operator: Binary,
        left: (NodeId, Compiled),
        right: (NodeId, Compiled),
    ) -> Option<Compiled> {
        for (at, compiled) in [left, right] {
            let node = &expr.nodes[at];
            if let Compiled::Value(_) = compiled {
                let message = "this condition is treated as the event `start(…)`";
                let diagnostic = Diagnostic::warning(node.span, message).label("condition");
                let help = "to test it when an event occurs, write `event when condition`";
                self.build.diagnostics.push(diagnostic.help(help));
            }
            let is_other = |inner: Binary| matches!(inner, Binary::And | Binary::Or) && inner != operator;
            if matches!(node.kind, NodeKind::Binary(inner, ..) if is_other(inner)) && !node.is_grouped {
                let message = "`&&` and `||` are mixed without parentheses";
                let diagnostic = Diagnostic::warning(node.span, message).label("evaluated first");
                let help = "other tools group operators on events to the right: add parentheses";
                self.build.diagnostics.push(diagnostic.help(help));
            }
        }
        let a = self.as_event(left.1, expr.nodes[left.0].span);
        let b = self.as_event(right.1, expr.nodes[right.0].span);
        let event = match operator {
            Binary::And => self.build.parts.both(a?, b?),
            _ => self.build.parts.either(a?, b?),
        };
        event.ok().map(Compiled::Event)
    }

    /// Reports a value of an imported event that cannot be read.
    fn check_event_value(&mut self, event: &str, index: u32, span: Span) -> Option<()> {
        match self.names.event_value(event, index) {
            ValueKnowledge::Known => Some(()),
            ValueKnowledge::Broken => None,
            ValueKnowledge::Object => {
                let diagnostic =
                    Diagnostic::error(span, "this parameter is an object").label("not monitored");
                self.build.report(diagnostic.help("only primitive values and strings can be read"))
            }
            ValueKnowledge::Undeclared => {
                let diagnostic = Diagnostic::error(span, format!("the values of `{event}` are not declared"));
                let help = format!("load the PEDL script as well, or write `import event {event}(int);`");
                self.build.report(diagnostic.label("unknown").help(help))
            }
        }
    }

    fn literal(&mut self, literal: &Literal, span: Span) -> Option<ExprId> {
        if *literal == Literal::Null {
            let diagnostic =
                Diagnostic::error(span, "`null` is not supported").label("objects are not monitored");
            return self
                .build
                .report(diagnostic.help("use `defined(x)` to test whether a variable has a value"));
        }
        Some(self.build.parts.constant(literal.value()))
    }

    fn index(&mut self, node: &Node) -> Option<u32> {
        if let NodeKind::Literal(Literal::Int(index)) = node.kind
            && let Ok(index) = u32::try_from(index)
        {
            return Some(index);
        }
        let diagnostic = Diagnostic::error(node.span, "the index of a value must be a number literal");
        self.build.report(diagnostic.label("not a number").help("values are numbered from 0: `value(e, 0)`"))
    }
}

/// The nodes that are indices of values, which are not expressions.
fn indices(expr: &Expr) -> HashSet<NodeId> {
    let index = |node: &Node| match node.kind {
        NodeKind::Value(_, index) => Some(index),
        _ => None,
    };
    expr.nodes.iter().filter_map(index).collect()
}

/// Returns the help for operands of the wrong type.
fn remedy(kind: &NodeKind) -> Option<&'static str> {
    Some(match kind {
        NodeKind::Unary(Unary::Not, _)
        | NodeKind::Binary(Binary::And | Binary::Or | Binary::Implies, ..)
        | NodeKind::Start(_)
        | NodeKind::End(_)
        | NodeKind::When(..)
        | NodeKind::Choice(..) => "compare the number, as in `x > 0`",
        NodeKind::Binary(Binary::Less | Binary::AtMost | Binary::Greater | Binary::AtLeast, ..) => {
            "strings and conditions can only be compared with `==` and `!=`"
        }
        NodeKind::Binary(Binary::Equal | Binary::NotEqual, ..) => "compare values of the same type",
        NodeKind::Unary(..) | NodeKind::Binary(..) => "this operator requires numbers",
        NodeKind::Cast(..) => "only numeric casts are supported",
        NodeKind::Value(..) => {
            "`update(x)` carries the new value, `startM(f)` the arguments, `endM(f)` the arguments and the result"
        }
        _ => return None,
    })
}
