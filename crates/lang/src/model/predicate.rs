//! Expressions over a model, as people write them at the command line and in the debugger.

use super::check::{Checker, Scope, Type, Typed};
use super::parser::Parser;
use super::scan::Token;
use super::syntax::{Argument, Name, Path, Segment};
use invigil_expr::diag::{Diagnostic, SourceId, nearest};
use invigil_model::{Actions, Binary, Expression, Kind, Model, VariableId};
use std::rc::Rc;

/// How many nodes a predicate may become.
pub(super) const ROOM: usize = 1 << 20;

/// An expression over the states and steps of a model, whichever language it was written in.
///
/// Names are those that people read: variables (`turn`, `P[2].x`, `slot[i]`), processes at locations (`P.wait`, or
/// `P == wait`), names of values, named predicates. Without a prime anywhere, all of them mean the configuration that
/// a step leads to. If some name has one (`x' == x + 1`), names without mean the configuration that it comes from.
/// `happens(send)` says that the step is by an action of that name, `enabled(send)` that there could be one.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::model::predicate;
/// use invigil_model::{Expression, Kind, Model, Parts, Step, Variable};
///
/// let n = Variable::scalar("n", Kind::Integer { low: 0, high: 3 }, 2);
/// let model = Model::new(Parts { variables: vec![n], ..Parts::default() }).unwrap();
/// let even = predicate(&model, SourceId(0), "n % 2 == 0").unwrap();
/// assert!(model.holds(&even, Step::at(&model.starts()[0].words)).unwrap());
///
/// let problems = predicate(&model, SourceId(0), "m == 0").unwrap_err();
/// assert_eq!(problems[0].message, "there is no `m` in this model");
/// ```
pub fn predicate(model: &Model, source: SourceId, text: &str) -> Result<Expression, Vec<Diagnostic>> {
    let mut parser = Parser::new(source, text);
    parser.has_arrows = true;
    let written = parser.expression();
    if written.is_some() && parser.next() != Token::End {
        let mut problem = parser.expected("an operator");
        if parser.at_mark("=") {
            problem = problem.help("to compare, write `==`");
        }
        parser.report(problem);
    }
    let written = match written {
        Some(written) if parser.problems.is_empty() => written,
        _ => return Err(parser.problems),
    };
    let mut checker = Checker::new(ROOM);
    let names = Names { model, constants: &[] };
    let found = checker.predicate(&names, &written).filter(|_| checker.problems.is_empty());
    let Some(found) = found else { return Err(checker.problems) };
    let fits = model.fits(&found);
    fits.map_err(|mistake| vec![Diagnostic::error(written.span, mistake.to_string())])?;
    Ok(found)
}

/// The names of a model.
pub(super) struct Names<'a> {
    pub(super) model: &'a Model,
    /// More names, for values that are known: a name, its type, the value.
    pub(super) constants: &'a [(String, Type, i64)],
}

/// A path whose first parts are the name of something, and what is left of it.
struct Found<T> {
    what: T,
    /// The number of segments that are left.
    left: usize,
}

impl Names<'_> {
    /// The names of all beginnings of a path, the longest first: `P[2].x`, `P[2]`, `P`. Beginnings with an index
    /// that is not known now have none.
    fn beginnings(&self, checker: &mut Checker, path: &Path) -> Vec<String> {
        let mut names = vec![path.head.text.clone()];
        for segment in &path.rest {
            let last = names.last().cloned().unwrap_or_default();
            names.push(match segment {
                Segment::Field(field) => format!("{last}.{}", field.text),
                Segment::Index(index) => {
                    let mark = checker.problems.len();
                    let found = checker.check(self, index, Some(&Type::Integer));
                    // It is looked at again where it is used.
                    checker.problems.truncate(mark);
                    match found.and_then(|found| found.constant()) {
                        Some(index) => format!("{last}[{index}]"),
                        None => break,
                    }
                }
            });
        }
        names
    }

    /// The longest beginning that `find` knows.
    fn longest<T>(path: &Path, names: &[String], find: impl Fn(&str) -> Option<T>) -> Option<Found<T>> {
        let mut lengths = names.iter().enumerate().rev();
        lengths.find_map(|(at, name)| Some(Found { what: find(name)?, left: path.rest.len() - at }))
    }

    fn variable(&self, checker: &mut Checker, path: &Path, found: &Found<VariableId>) -> Option<Typed> {
        let variable = self.model.variable(found.what);
        let kind = type_of(&variable.kind);
        let name = &variable.name;
        match (&path.rest[path.rest.len() - found.left..], variable.length) {
            ([], None) => Some(Typed::leaf(Expression::read(found.what), kind)),
            ([], Some(length)) => {
                let message = format!("`{name}` is an array of {length}, not one value");
                let problem = Diagnostic::error(path.span, message).label("which element?");
                checker.report(problem.help(format!("write `{name}[0]`")))
            }
            ([Segment::Index(written)], Some(length)) => {
                let index = checker.expect(self, written, &Type::Integer)?;
                if let Some(value) = index.constant()
                    && !(0..i64::from(length)).contains(&value)
                {
                    let message = format!("`{name}` has no element {value}");
                    let last = length - 1;
                    let problem = Diagnostic::error(written.span, message);
                    return checker.report(problem.label(format!("its elements are 0 to {last}")));
                }
                let read = Expression::element(found.what, index.expression);
                Some(Typed { expression: read, kind, depth: index.depth + 1 })
            }
            ([Segment::Index(index), ..], None) => {
                let problem = Diagnostic::error(index.span, format!("`{name}` is no array"));
                checker.report(problem.label("it has one value"))
            }
            ([Segment::Field(field), ..], _) | ([_, Segment::Field(field), ..], _) => {
                let message = format!("`{name}` has no part `{}`", field.text);
                checker.report(Diagnostic::error(field.span, message).label("not known"))
            }
            ([_, Segment::Index(index), ..], _) => {
                let message = format!("`{name}` has no elements in its elements");
                checker.report(Diagnostic::error(index.span, message).label("one index too many"))
            }
        }
    }

    /// A process, which is somewhere.
    fn process(&self, checker: &mut Checker, path: &Path, found: &Found<usize>) -> Option<Typed> {
        let process = &self.model.parts().processes[found.what];
        let at = Expression::read(process.location);
        let names: Vec<String> = process.locations.iter().map(|location| location.name.clone()).collect();
        match &path.rest[path.rest.len() - found.left..] {
            [] => Some(Typed::leaf(at, Type::Names(Rc::new(names)))),
            [Segment::Field(field)] => match names.iter().position(|name| *name == field.text) {
                Some(number) => {
                    let there = Expression::binary(Binary::Equal, at, Expression::Constant(number as i64));
                    Some(Typed { expression: there, kind: Type::Boolean, depth: 2 })
                }
                None => {
                    let message = format!("`{}` has no location or variable `{}`", process.name, field.text);
                    let mut problem = Diagnostic::error(field.span, message).label("not known");
                    let own = format!("{}.", process.name);
                    let variables = self.model.parts().variables.iter();
                    let own = variables.filter_map(|variable| variable.name.strip_prefix(&own));
                    if let Some(near) = nearest(&field.text, names.iter().map(String::as_str).chain(own)) {
                        problem = problem.help(format!("did you mean `{near}`?"));
                    }
                    checker.report(problem)
                }
            },
            [Segment::Index(index), ..] => {
                let message = format!("`{}` is one process, no array", process.name);
                checker.report(Diagnostic::error(index.span, message).label("no index here"))
            }
            [Segment::Field(_), ..] => {
                let problem = Diagnostic::error(path.span, "this is no variable and no location");
                checker.report(problem.label("not known"))
            }
        }
    }

    /// A name for one of several values, if the type says which, or if only one type has it.
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
            if let Kind::Names(names) = &variable.kind
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
                let problem = Diagnostic::error(path.span, format!("`{name}` can mean several things"));
                checker.report(problem.label("which one?").help("compare it with a variable: `x == …`"))
            }
        }
    }

    fn unknown<T>(&self, checker: &mut Checker, path: &Path, names: &[String]) -> Option<T> {
        let parts = self.model.parts();
        let (name, span) = (&path.head.text, path.head.span);
        // An index that is wrong, or not known now.
        for segment in &path.rest {
            if let Segment::Index(index) = segment {
                let found = checker.check(self, index, Some(&Type::Integer))?;
                let is_array = parts.processes.iter().any(|of| of.name.starts_with(&format!("{name}[")));
                if is_array && found.constant().is_none() {
                    let problem = Diagnostic::error(index.span, "which process this is must be known");
                    let help = format!("write `exists k in …: k == … and {name}[k]…`");
                    return checker.report(problem.label("changes while the model runs").help(help));
                }
            }
        }
        let indexed = names.get(1).filter(|_| matches!(path.rest.first(), Some(Segment::Index(_))));
        let whole: &str = indexed.unwrap_or(name);
        let mut problem =
            Diagnostic::error(span, format!("there is no `{whole}` in this model")).label("not known");
        let head = |full: &str| full.split(['[', '.']).next().unwrap_or_default().to_owned();
        let mut known: Vec<String> = parts.variables.iter().map(|of| head(&of.name)).collect();
        known.extend(parts.processes.iter().map(|of| head(&of.name)));
        known.extend(parts.predicates.iter().map(|of| of.name.clone()));
        known.extend(self.constants.iter().map(|(name, ..)| name.clone()));
        for variable in &parts.variables {
            if let Kind::Names(names) = &variable.kind {
                known.extend(names.iter().cloned());
            }
        }
        known.sort();
        known.dedup();
        let of_array = |array: &str| {
            let own = format!("{array}[");
            let names = parts.processes.iter().map(|of| &of.name);
            let all: Vec<&String> = names.filter(|name| name.starts_with(&own)).collect();
            Some(format!("there are `{}` to `{}`", all.first()?, all.last()?))
        };
        if let Some(words) = of_array(name) {
            problem = problem.help(words);
        } else if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
            problem = problem.help(format!("did you mean `{near}`?"));
        }
        checker.report(problem)
    }

    /// The actions of this name: an event, that of one process (`P[0].send`), or all of one process.
    fn actions(&self, names: &[String], path: &Path) -> Option<Actions> {
        if names.len() <= path.rest.len() {
            return None;
        }
        let whole = names.last()?;
        let called = self.model.actions_called(whole);
        if !called.is_empty() {
            return Some(called);
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
        let is_meant = |(_, action): &(u32, &invigil_model::Action)| {
            action.moves.iter().any(|by| by.process == process)
                && (event.is_none() || action.event.as_deref() == event)
        };
        let found: Actions = (0..).zip(&parts.actions).filter(is_meant).map(|(id, _)| id).collect();
        (!found.is_empty()).then_some(found)
    }
}

impl Scope for Names<'_> {
    fn read(&self, checker: &mut Checker, path: &Path, expected: Option<&Type>) -> Option<Typed> {
        let parts = self.model.parts();
        let names = self.beginnings(checker, path);
        // What is hidden from people has no name for them.
        let shown = |id: &VariableId| !self.model.variable(*id).is_hidden;
        let variable = Names::longest(path, &names, |name| self.model.variable_called(name).filter(shown));
        let process = Names::longest(path, &names, |name| {
            parts.processes.iter().position(|process| process.name == name)
        });
        let predicate = parts.predicates.iter().find(|of| Some(&of.name) == names.get(path.rest.len()));
        // The variable of a process's location is often called as the process is.
        match (variable, process) {
            (Some(variable), Some(process)) if variable.left < process.left => {
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
        let is_meant = |(name, ..): &&(String, Type, i64)| Some(name) == names.get(path.rest.len());
        if let Some((_, kind, value)) = self.constants.iter().find(is_meant) {
            return Some(Typed::leaf(Expression::Constant(*value), kind.clone()));
        }
        let mark = checker.problems.len();
        match self.value(checker, path, expected) {
            Some(found) => Some(found),
            None if checker.problems.len() > mark => None,
            None => self.unknown(checker, path, &names),
        }
    }

    fn call(&self, checker: &mut Checker, name: &Name, argument: &Argument) -> Option<Typed> {
        let (actions, span, written) = match argument {
            Argument::Quoted(quoted) => {
                let mut actions = self.model.actions_called(&quoted.text);
                if actions.is_empty() {
                    let all = (0..).zip(&self.model.parts().actions);
                    actions = all.filter(|(_, of)| of.name == quoted.text).map(|(id, _)| id).collect();
                }
                ((!actions.is_empty()).then_some(actions), quoted.span, quoted.text.clone())
            }
            Argument::Path(path) => {
                let names = self.beginnings(checker, path);
                (self.actions(&names, path), path.span, names.last().cloned().unwrap_or_default())
            }
        };
        let is_enabled = match name.text.as_str() {
            "enabled" => true,
            "happens" => false,
            other => {
                let problem = Diagnostic::error(name.span, format!("`{other}` cannot be used here"));
                let help = "`length`, `empty` and `full` are for the guards and effects of a model";
                return checker.report(problem.label("not known here").help(help));
            }
        };
        let Some(actions) = actions else {
            let problem = Diagnostic::error(span, format!("no action is called `{written}`"));
            let all = &self.model.parts().actions;
            let events = all.iter().filter_map(|action| action.event.as_deref());
            let near = nearest(&written, events.chain(all.iter().map(|action| action.name.as_str())));
            return checker.report(match near {
                Some(near) => problem.label("not known").help(format!("did you mean `{near}`?")),
                None => problem.label("not known"),
            });
        };
        checker.spend(span, actions.len())?;
        let found = if is_enabled { Expression::Enabled(actions) } else { Expression::Happens(actions) };
        Some(Typed::leaf(found, Type::Boolean))
    }
}

/// The type of what a variable holds.
pub(super) fn type_of(kind: &Kind) -> Type {
    match kind {
        Kind::Integer { .. } => Type::Integer,
        Kind::Boolean => Type::Boolean,
        Kind::Names(names) => Type::Names(Rc::new(names.clone())),
    }
}

/// How deep an expression is, and how many nodes it has.
fn measure(expression: &Expression) -> (u32, usize) {
    let mut size = 0;
    expression.visit(&mut |_| size += 1);
    (depth(expression), size)
}

/// How deep an expression of a model is; whoever made the model kept it within bounds.
fn depth(expression: &Expression) -> u32 {
    1 + match expression {
        Expression::Constant(_) | Expression::Happens(_) | Expression::Enabled(_) => 0,
        Expression::Read(place) => place.index.as_ref().map_or(0, |index| depth(index)),
        Expression::Unary(_, operand) | Expression::Before(operand) => depth(operand),
        Expression::Binary(_, both) => depth(&both.0).max(depth(&both.1)),
        Expression::If(parts) => depth(&parts.0).max(depth(&parts.1)).max(depth(&parts.2)),
    }
}
