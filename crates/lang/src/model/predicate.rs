//! Expressions over a model, as users write them on the command line and in the debugger.

use super::check::{Checker, Scope, Type, Typed};
use super::parser::ModelParser;
use super::scan::Token;
use super::syntax::{Argument, Name, Path, Segment};
use invigil_expr::diag::{Diagnostic, SourceId, nearest};
use invigil_model::{Actions, Binary, Domain, Expression, Model, VariableId};
use std::rc::Rc;

/// The maximum number of nodes of a predicate.
pub(super) const MAX_NODES: usize = 1 << 20;

/// Parses an expression over the states and steps of a model, in whichever language the model was written.
///
/// Names are those shown to users: variables (`turn`, `P[2].x`, `slot[i]`), processes at locations (`P.wait`, or
/// `P == wait`), enum values, named predicates. If no name has a prime, all refer to the configuration after the step.
/// If some name has one (`x' == x + 1`), names without a prime refer to the configuration before it.
/// `happens(send)` is true if an action of that name takes the step, `enabled(send)` if one is enabled.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::model::predicate;
/// use invigil_model::{Expression, Domain, Model, ModelParts, Step, Variable};
///
/// let n = Variable::scalar("n", Domain::Integer { low: 0, high: 3 }, 2);
/// let model = Model::new(ModelParts { variables: vec![n], ..ModelParts::default() }).unwrap();
/// let even = predicate(&model, SourceId(0), "n % 2 == 0").unwrap();
/// assert!(model.holds(&even, Step::at(&model.initial_states()[0].words)).unwrap());
///
/// let diagnostics = predicate(&model, SourceId(0), "m == 0").unwrap_err();
/// assert_eq!(diagnostics[0].message, "unknown name `m`");
/// ```
pub fn predicate(model: &Model, source: SourceId, text: &str) -> Result<Expression, Vec<Diagnostic>> {
    let mut parser = ModelParser::new(source, text);
    parser.has_arrows = true;
    let syntax = parser.expression();
    if syntax.is_some() && parser.peek() != Token::End {
        let mut diagnostic = parser.expected("an operator");
        if parser.at_mark("=") {
            diagnostic = diagnostic.help("to compare, write `==`");
        }
        parser.report(diagnostic);
    }
    let syntax = match syntax {
        Some(syntax) if parser.diagnostics.is_empty() => syntax,
        _ => return Err(parser.diagnostics),
    };
    let mut checker = Checker::new(MAX_NODES);
    let names = ModelNames { model, constants: &[] };
    let found = checker.predicate(&names, &syntax).filter(|_| checker.diagnostics.is_empty());
    let Some(found) = found else { return Err(checker.diagnostics) };
    let type_check = model.check_predicate(&found);
    type_check.map_err(|error| vec![Diagnostic::error(syntax.span, error.to_string())])?;
    Ok(found)
}

/// Name resolution against a compiled model.
pub(super) struct ModelNames<'a> {
    pub(super) model: &'a Model,
    /// Additional names for constants: name, type, value.
    pub(super) constants: &'a [(String, Type, i64)],
}

/// A path whose first segments are the name of an object, and the number of remaining segments.
struct ResolvedPath<T> {
    object: T,
    /// The number of remaining segments.
    remaining: usize,
}

impl ModelNames<'_> {
    /// Returns the names of all prefixes of a path, the longest first: `P[2].x`, `P[2]`, `P`. Prefixes with a
    /// non-constant index have none.
    fn prefix_names(&self, checker: &mut Checker, path: &Path) -> Vec<String> {
        let mut names = vec![path.head.text.clone()];
        for segment in &path.rest {
            let last = names.last().cloned().unwrap_or_default();
            names.push(match segment {
                Segment::Field(field) => format!("{last}.{}", field.text),
                Segment::Index(index) => {
                    let mark = checker.diagnostics.len();
                    let found = checker.check(self, index, Some(&Type::Integer));
                    // Errors in it are reported when it is used.
                    checker.diagnostics.truncate(mark);
                    match found.and_then(|found| found.constant()) {
                        Some(index) => format!("{last}[{index}]"),
                        None => break,
                    }
                }
            });
        }
        names
    }

    /// Returns the longest prefix that `find` resolves.
    fn resolve_longest<T>(
        path: &Path,
        names: &[String],
        find: impl Fn(&str) -> Option<T>,
    ) -> Option<ResolvedPath<T>> {
        let mut lengths = names.iter().enumerate().rev();
        lengths.find_map(|(at, name)| {
            Some(ResolvedPath { object: find(name)?, remaining: path.rest.len() - at })
        })
    }

    fn variable(
        &self,
        checker: &mut Checker,
        path: &Path,
        found: &ResolvedPath<VariableId>,
    ) -> Option<Typed> {
        let variable = self.model.variable(found.object);
        let kind = type_of(&variable.domain);
        let name = &variable.name;
        match (&path.rest[path.rest.len() - found.remaining..], variable.length) {
            ([], None) => Some(Typed::leaf(Expression::read(found.object), kind)),
            ([], Some(length)) => {
                let message = format!("`{name}` is an array of {length} elements");
                let diagnostic = Diagnostic::error(path.span, message).label("missing index");
                checker.report(diagnostic.help(format!("write `{name}[0]`")))
            }
            ([Segment::Index(syntax)], Some(length)) => {
                let index = checker.expect(self, syntax, &Type::Integer)?;
                if let Some(value) = index.constant()
                    && !(0..i64::from(length)).contains(&value)
                {
                    let message = format!("`{name}` has no element {value}");
                    let last = length - 1;
                    let diagnostic = Diagnostic::error(syntax.span, message);
                    return checker.report(diagnostic.label(format!("valid indices: 0 to {last}")));
                }
                let read = Expression::element(found.object, index.expression);
                Some(Typed { expression: read, kind, depth: index.depth + 1 })
            }
            ([Segment::Index(index), ..], None) => {
                let diagnostic = Diagnostic::error(index.span, format!("`{name}` is not an array"));
                checker.report(diagnostic.label("scalar"))
            }
            ([Segment::Field(field), ..], _) | ([_, Segment::Field(field), ..], _) => {
                let message = format!("`{name}` has no field `{}`", field.text);
                checker.report(Diagnostic::error(field.span, message).label("unknown"))
            }
            ([_, Segment::Index(index), ..], _) => {
                let message = format!("`{name}` is a one-dimensional array");
                checker.report(Diagnostic::error(index.span, message).label("one index too many"))
            }
        }
    }

    /// Resolves a process and its location or variable.
    fn process(&self, checker: &mut Checker, path: &Path, found: &ResolvedPath<usize>) -> Option<Typed> {
        let process = &self.model.parts().processes[found.object];
        let at = Expression::read(process.location);
        let names: Vec<String> = process.locations.iter().map(|location| location.name.clone()).collect();
        match &path.rest[path.rest.len() - found.remaining..] {
            [] => Some(Typed::leaf(at, Type::Names(Rc::new(names)))),
            [Segment::Field(field)] => match names.iter().position(|name| *name == field.text) {
                Some(number) => {
                    let is_at = Expression::binary(Binary::Equal, at, Expression::Constant(number as i64));
                    Some(Typed { expression: is_at, kind: Type::Boolean, depth: 2 })
                }
                None => {
                    let message = format!("`{}` has no location or variable `{}`", process.name, field.text);
                    let mut diagnostic = Diagnostic::error(field.span, message).label("unknown");
                    let own = format!("{}.", process.name);
                    let variables = self.model.parts().variables.iter();
                    let own = variables.filter_map(|variable| variable.name.strip_prefix(&own));
                    if let Some(near) = nearest(&field.text, names.iter().map(String::as_str).chain(own)) {
                        diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                    }
                    checker.report(diagnostic)
                }
            },
            [Segment::Index(index), ..] => {
                let message = format!("`{}` is a single process, not an array", process.name);
                checker.report(Diagnostic::error(index.span, message).label("unexpected index"))
            }
            [Segment::Field(_), ..] => {
                let diagnostic = Diagnostic::error(path.span, "this is neither a variable nor a location");
                checker.report(diagnostic.label("unknown"))
            }
        }
    }

    /// Resolves an enum value, if the expected type determines it or only one type has it.
    fn value(&self, checker: &mut Checker, path: &Path, expected: Option<&Type>) -> Option<Typed> {
        let name = path.bare()?;
        let of = |names: &Rc<Vec<String>>| {
            let number = names.iter().position(|other| other == name)?;
            Some(Typed::leaf(Expression::Constant(number as i64), Type::Names(Rc::clone(names))))
        };
        if let Some(Type::Names(names)) = expected
            && let Some(found) = of(names)
        {
            return Some(found);
        }
        let mut lists: Vec<Rc<Vec<String>>> = Vec::new();
        for variable in &self.model.parts().variables {
            if let Domain::Names(names) = &variable.domain
                && names.iter().any(|other| other == name)
                && !lists.iter().any(|list| **list == *names)
            {
                lists.push(Rc::new(names.clone()));
            }
        }
        match &lists[..] {
            [] => None,
            [only] => of(only),
            _ => {
                let diagnostic = Diagnostic::error(path.span, format!("`{name}` is ambiguous"));
                checker.report(
                    diagnostic.label("several enums have it").help("compare it with a variable: `x == …`"),
                )
            }
        }
    }

    fn report_unknown<T>(&self, checker: &mut Checker, path: &Path, names: &[String]) -> Option<T> {
        let parts = self.model.parts();
        let (name, span) = (&path.head.text, path.head.span);
        // An index that is out of range or not constant.
        for segment in &path.rest {
            if let Segment::Index(index) = segment {
                let found = checker.check(self, index, Some(&Type::Integer))?;
                let is_array = parts.processes.iter().any(|of| of.name.starts_with(&format!("{name}[")));
                if is_array && found.constant().is_none() {
                    let diagnostic = Diagnostic::error(index.span, "a process index must be a constant");
                    let help = format!("write `exists k in …: k == … and {name}[k]…`");
                    return checker.report(diagnostic.label("not known at compile time").help(help));
                }
            }
        }
        let indexed = names.get(1).filter(|_| matches!(path.rest.first(), Some(Segment::Index(_))));
        let whole: &str = indexed.unwrap_or(name);
        let mut diagnostic = Diagnostic::error(span, format!("unknown name `{whole}`")).label("unknown");
        let head = |full: &str| full.split(['[', '.']).next().unwrap_or_default().to_owned();
        let mut known: Vec<String> = parts.variables.iter().map(|of| head(&of.name)).collect();
        known.extend(parts.processes.iter().map(|of| head(&of.name)));
        known.extend(parts.predicates.iter().map(|of| of.name.clone()));
        known.extend(self.constants.iter().map(|(name, ..)| name.clone()));
        for variable in &parts.variables {
            if let Domain::Names(names) = &variable.domain {
                known.extend(names.iter().cloned());
            }
        }
        known.sort();
        known.dedup();
        let valid_range = |array: &str| {
            let own = format!("{array}[");
            let names = parts.processes.iter().map(|of| &of.name);
            let all: Vec<&String> = names.filter(|name| name.starts_with(&own)).collect();
            Some(format!("valid: `{}` to `{}`", all.first()?, all.last()?))
        };
        if let Some(words) = valid_range(name) {
            diagnostic = diagnostic.help(words);
        } else if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        checker.report(diagnostic)
    }

    /// Returns the actions of this name: those of an event, of an event in one process (`P[0].send`), or of a process.
    fn actions(&self, names: &[String], path: &Path) -> Option<Actions> {
        if names.len() <= path.rest.len() {
            return None;
        }
        let whole = names.last()?;
        let actions = self.model.actions_named(whole);
        if !actions.is_empty() {
            return Some(actions);
        }
        let parts = self.model.parts();
        let of = |name: &str| parts.processes.iter().position(|process| process.name == name);
        let (process, event) = match (of(whole), path.rest.last()) {
            (Some(process), _) => (process as u32, None),
            (None, Some(Segment::Field(event))) => {
                (of(&names[names.len() - 2])? as u32, Some(event.text.as_str()))
            }
            _ => return None,
        };
        let is_match = |(_, action): &(u32, &invigil_model::Action)| {
            action.moves.iter().any(|by| by.process == process)
                && (event.is_none() || action.event.as_deref() == event)
        };
        let found: Actions = (0..).zip(&parts.actions).filter(is_match).map(|(id, _)| id).collect();
        (!found.is_empty()).then_some(found)
    }
}

impl Scope for ModelNames<'_> {
    fn read(&self, checker: &mut Checker, path: &Path, expected: Option<&Type>) -> Option<Typed> {
        let parts = self.model.parts();
        let names = self.prefix_names(checker, path);
        // Hidden variables have no names for users.
        let is_shown = |id: &VariableId| !self.model.variable(*id).is_hidden;
        let variable = ModelNames::resolve_longest(path, &names, |name| {
            self.model.variable_named(name).filter(is_shown)
        });
        let process = ModelNames::resolve_longest(path, &names, |name| {
            parts.processes.iter().position(|process| process.name == name)
        });
        let predicate = parts.predicates.iter().find(|of| Some(&of.name) == names.get(path.rest.len()));
        // The location variable of a process often has the process's name.
        match (variable, process) {
            (Some(variable), Some(process)) if variable.remaining < process.remaining => {
                return self.variable(checker, path, &variable);
            }
            (_, Some(process)) if predicate.is_none() => return self.process(checker, path, &process),
            (Some(variable), None) => return self.variable(checker, path, &variable),
            _ => {}
        }
        if let Some(predicate) = predicate {
            let (depth, size) = measure(&predicate.expression);
            checker.spend(path.span, size)?;
            return Some(Typed { expression: predicate.expression.clone(), kind: Type::Boolean, depth });
        }
        let is_match = |(name, ..): &&(String, Type, i64)| Some(name) == names.get(path.rest.len());
        if let Some((_, kind, value)) = self.constants.iter().find(is_match) {
            return Some(Typed::leaf(Expression::Constant(*value), kind.clone()));
        }
        let mark = checker.diagnostics.len();
        match self.value(checker, path, expected) {
            Some(found) => Some(found),
            None if checker.diagnostics.len() > mark => None,
            None => self.report_unknown(checker, path, &names),
        }
    }

    fn call(&self, checker: &mut Checker, name: &Name, argument: &Argument) -> Option<Typed> {
        let (actions, span, syntax) = match argument {
            Argument::Quoted(quoted) => {
                let mut actions = self.model.actions_named(&quoted.text);
                if actions.is_empty() {
                    let all = (0..).zip(&self.model.parts().actions);
                    actions = all.filter(|(_, of)| of.name == quoted.text).map(|(id, _)| id).collect();
                }
                ((!actions.is_empty()).then_some(actions), quoted.span, quoted.text.clone())
            }
            Argument::Path(path) => {
                let names = self.prefix_names(checker, path);
                (self.actions(&names, path), path.span, names.last().cloned().unwrap_or_default())
            }
        };
        let is_enabled = match name.text.as_str() {
            "enabled" => true,
            "happens" => false,
            other => {
                let diagnostic = Diagnostic::error(name.span, format!("`{other}` cannot be used here"));
                let help = "`length`, `empty` and `full` are only available in guards and effects";
                return checker.report(diagnostic.label("not available here").help(help));
            }
        };
        let Some(actions) = actions else {
            let diagnostic = Diagnostic::error(span, format!("unknown action `{syntax}`"));
            let all = &self.model.parts().actions;
            let events = all.iter().filter_map(|action| action.event.as_deref());
            let near = nearest(&syntax, events.chain(all.iter().map(|action| action.name.as_str())));
            return checker.report(match near {
                Some(near) => diagnostic.label("unknown").help(format!("did you mean `{near}`?")),
                None => diagnostic.label("unknown"),
            });
        };
        checker.spend(span, actions.len())?;
        let found = if is_enabled { Expression::Enabled(actions) } else { Expression::Happens(actions) };
        Some(Typed::leaf(found, Type::Boolean))
    }
}

/// Returns the type of a variable's values.
pub(super) fn type_of(kind: &Domain) -> Type {
    match kind {
        Domain::Integer { .. } => Type::Integer,
        Domain::Boolean => Type::Boolean,
        Domain::Names(names) => Type::Names(Rc::new(names.clone())),
    }
}

/// Returns the depth and the number of nodes of an expression.
fn measure(expression: &Expression) -> (u32, usize) {
    let mut size = 0;
    expression.visit(&mut |_| size += 1);
    (depth(expression), size)
}

/// Returns the depth of an expression of a model. The compiler of the model has bounded it.
fn depth(expression: &Expression) -> u32 {
    1 + match expression {
        Expression::Constant(_) | Expression::Happens(_) | Expression::Enabled(_) => 0,
        Expression::Read(place) => place.index.as_ref().map_or(0, |index| depth(index)),
        Expression::Unary(_, operand) | Expression::Before(operand) => depth(operand),
        Expression::Binary(_, operands) => depth(&operands.0).max(depth(&operands.1)),
        Expression::If(parts) => depth(&parts.0).max(depth(&parts.1)).max(depth(&parts.2)),
    }
}
