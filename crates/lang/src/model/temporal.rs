//! Temporal claims about models: formulae of linear temporal logic whose atoms are about a model.

use super::predicate;
use crate::ltl::{BUDGET, diagnostic};
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};
use invigil_ltl::formula::{Atom, Proposition};
use invigil_ltl::label::{Label, Variable};
use invigil_ltl::questions::Stuttering;
use invigil_ltl::syntax::Tree;
use invigil_ltl::{Logic, TooLarge};
use invigil_model::{Binary, Expression, Kind, Model, Omega, OmegaEdge, Unary};
use std::collections::HashMap;

/// The most literals of all labels together.
const MOST_LITERALS: usize = 1 << 16;

/// An automaton that accepts just the executions of a model on which a formula does not hold: whoever finds one that
/// it accepts has a counterexample. `text` is the whole of its source.
///
/// An instant is a configuration, with the step that led to it. A name stands for a predicate of the model, a Boolean
/// variable, a place of a process (`Train.crossing`), or the event of a step, in this order. Expressions over the
/// model stand in quotes, and so do names that are none for formulae: `"P[0].critical"`.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::model::never;
/// use invigil_model::{Kind, Model, Parts, Variable};
/// let variables = vec![Variable::scalar("busy", Kind::Boolean, 0)];
/// let model = Model::new(Parts { variables, ..Parts::default() }).unwrap();
/// let automaton = never(&model, SourceId(0), "G F busy", "again").unwrap();
/// assert_eq!((automaton.edges.len(), automaton.sets), (2, 1));
/// let problems = never(&model, SourceId(0), "G F bussy", "again").unwrap_err();
/// assert_eq!(problems[0].help.as_deref(), Some("did you mean `busy`?"));
/// ```
///
/// # Errors
/// With all mistakes in the formula.
pub fn never(model: &Model, source: SourceId, text: &str, name: &str) -> Result<Omega, Vec<Diagnostic>> {
    never_at(model, (source, 0), text, name)
}

/// The same for a formula that stands in a larger text, with the place where it begins.
///
/// # Errors
/// With all mistakes in the formula.
pub fn never_at(
    model: &Model,
    (source, offset): (SourceId, u32),
    text: &str,
    name: &str,
) -> Result<Omega, Vec<Diagnostic>> {
    let mistake = |mistake| vec![diagnostic(source, offset as usize, &mistake)];
    let mut logic = Logic::new(BUDGET);
    let tree = Tree::parse(text).map_err(mistake)?;
    let formula = logic.formulae.make(&tree).map_err(mistake)?;
    let names = Names { model, source, offset, text };
    let (mut atoms, mut problems) = (HashMap::new(), Vec::new());
    for (proposition, place) in tree.atoms() {
        let atom = logic.formulae.atom_for(proposition.clone());
        if atoms.contains_key(&atom) {
            continue;
        }
        // One that is wrong is told once.
        let expression = names.resolve(proposition, place).unwrap_or_else(|mut mistakes| {
            problems.append(&mut mistakes);
            Expression::Constant(0)
        });
        atoms.insert(atom, expression);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let whole = Span::new(source, offset, offset + text.len() as u32);
    automaton(&mut logic, formula, &atoms, name).map_err(|limit| vec![too_large(whole, limit)])
}

fn too_large(span: Span, limit: TooLarge) -> Diagnostic {
    Diagnostic::error(span, "there is no automaton of a reasonable size for this formula")
        .label(limit.to_string())
        .help("claim the parts of a conjunction one by one, or give smaller bounds")
}

/// The automaton of what the formula forbids.
fn automaton(
    logic: &mut Logic,
    formula: invigil_ltl::Formula,
    atoms: &HashMap<Atom, Expression>,
    name: &str,
) -> Result<Omega, TooLarge> {
    let violation = logic.formulae.not(formula)?;
    let small = logic.translate(violation)?;
    let (mut edges, mut literals) = (Vec::new(), 0);
    for from in &small.edges {
        let mut out = Vec::new();
        for edge in from {
            let label = expression(logic, &edge.label, atoms, &mut literals)?;
            out.push(OmegaEdge { label, marks: edge.marks, target: edge.target });
        }
        edges.push(out);
    }
    let stutters = !atoms.values().any(Expression::is_about_steps)
        // A formula for which that is too hard to say is taken for one that counts.
        && logic.stuttering(formula).is_ok_and(|found| found == Stuttering::Invariant);
    Ok(Omega { name: name.to_owned(), initial: small.initial, edges, sets: small.sets, stutters })
}

/// A label as an expression: a short sum of products.
fn expression(
    logic: &Logic,
    label: &Label,
    atoms: &HashMap<Atom, Expression>,
    literals: &mut usize,
) -> Result<Expression, TooLarge> {
    let mut products = Vec::new();
    for cube in logic.labels.cubes(label)? {
        *literals += cube.len();
        if *literals > MOST_LITERALS {
            return Err(TooLarge { what: "literals in labels", limit: MOST_LITERALS });
        }
        let factors = cube.into_iter().map(|(variable, value)| {
            let atom = match variable {
                Variable::Atom(atom) => atoms.get(&atom),
                Variable::Helper(_) => None,
            };
            // Automata have no variables but the atoms of their formulae.
            let factor = atom.cloned().unwrap_or(Expression::Constant(0));
            if value { factor } else { Expression::unary(Unary::Not, factor) }
        });
        products.push(Expression::all(factors.collect()));
    }
    Ok(Expression::any(products))
}

/// A mistake in a part of a text that begins at `by`.
fn shifted(mut problem: Diagnostic, by: u32) -> Diagnostic {
    let spans = core::iter::once(&mut problem.span).chain(problem.related.iter_mut().map(|(span, _)| span));
    for span in spans {
        *span = Span::new(span.source, span.start + by, span.end + by);
    }
    problem
}

/// What atoms can be about.
struct Names<'a> {
    model: &'a Model,
    source: SourceId,
    offset: u32,
    text: &'a str,
}

impl Names<'_> {
    fn resolve(
        &self,
        proposition: &Proposition,
        place: core::ops::Range<usize>,
    ) -> Result<Expression, Vec<Diagnostic>> {
        let at = |place: usize| self.offset + place as u32;
        let span = Span::new(self.source, at(place.start), at(place.end));
        match proposition {
            Proposition::Name(name) => self.name(name).ok_or_else(|| vec![self.unknown(name, span)]),
            Proposition::Expression(text) => match self.name(text.trim()) {
                Some(found) => Ok(found),
                None => predicate(self.model, self.source, text).map_err(|problems| {
                    let inside = place.start + 1..place.end.saturating_sub(1);
                    let is_literal = self.text.get(inside.clone()) == Some(text);
                    let moved = problems.into_iter().map(|problem| match is_literal {
                        true => shifted(problem, at(inside.start)),
                        // Some letters of it were written in another way.
                        false => Diagnostic { span, related: Vec::new(), ..problem },
                    });
                    moved.collect()
                }),
            },
            Proposition::Monitor(name) => Err(vec![
                Diagnostic::error(span, format!("there is no formula `{name}` here"))
                    .help("a claim is one formula: write out what it refers to"),
            ]),
            // Algorithms add such; no one writes them.
            Proposition::Fresh(_) => Ok(Expression::Constant(0)),
        }
    }

    fn name(&self, name: &str) -> Option<Expression> {
        let parts = self.model.parts();
        if let Some(predicate) = parts.predicates.iter().find(|predicate| predicate.name == name) {
            return Some(predicate.expression.clone());
        }
        if let Some(variable) = self.model.variable_called(name) {
            let of = self.model.variable(variable);
            let is_truth = of.length.is_none() && of.kind == Kind::Boolean;
            return is_truth.then(|| Expression::read(variable));
        }
        if let Some(found) = self.location(name) {
            return Some(found);
        }
        let actions = self.model.actions_called(name);
        (!actions.is_empty()).then_some(Expression::Happens(actions))
    }

    /// `Train.crossing`: the process is there.
    fn location(&self, name: &str) -> Option<Expression> {
        let (process, location) = name.rsplit_once('.')?;
        let process = self.model.parts().processes.iter().find(|known| known.name == process)?;
        let at = process.locations.iter().position(|known| known.name == location)?;
        let is_there = (Expression::read(process.location), Expression::Constant(at as i64));
        Some(Expression::binary(Binary::Equal, is_there.0, is_there.1))
    }

    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        if let Some(variable) = self.model.variable_called(name) {
            let of = self.model.variable(variable);
            let what = if of.length.is_some() { "an array" } else { "no truth value" };
            return Diagnostic::error(span, format!("`{name}` is {what}"))
                .label("it does not hold or not hold")
                .help(format!("compare it, in quotes: \"{name} == …\""));
        }
        let known = self.known();
        let diagnostic = Diagnostic::error(span, format!("the model has nothing that is called `{name}`"));
        match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help(
                "a name is a predicate, a Boolean variable, a process with one of its places (`P.idle`), or an event",
            ),
        }
    }

    /// All names that have a meaning.
    fn known(&self) -> Vec<String> {
        let parts = self.model.parts();
        let predicates = parts.predicates.iter().map(|predicate| predicate.name.clone());
        let variables = parts.variables.iter().filter(|variable| !variable.is_hidden);
        let places = parts.processes.iter().flat_map(|process| {
            process.locations.iter().map(move |location| format!("{}.{}", process.name, location.name))
        });
        let events = parts.actions.iter().filter_map(|action| action.event.clone());
        predicates
            .chain(variables.map(|variable| variable.name.clone()))
            .chain(places)
            .chain(events)
            .collect()
    }
}
