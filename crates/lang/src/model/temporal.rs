//! Temporal claims about models: formulae of linear temporal logic over the model's states and steps.

use super::predicate;
use crate::ltl::{BUDGET, syntax_diagnostic};
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};
use invigil_ltl::analysis::Stuttering;
use invigil_ltl::formula::{Atom, Proposition};
use invigil_ltl::label::{Label, Variable};
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Logic, TooLarge};
use invigil_model::{Binary, Domain, Expression, Model, OmegaAutomaton, OmegaEdge, Unary};
use std::collections::HashMap;

/// The maximum number of literals in all labels.
const MAX_LITERALS: usize = 1 << 16;

/// Returns an automaton that accepts exactly the executions that violate a formula, so an accepted execution is a
/// counterexample. `text` is the whole source.
///
/// A position is a configuration with the step that led to it. A name denotes a predicate of the model, a Boolean
/// variable, a location of a process (`Train.crossing`), or the event of a step, in this order. Expressions over the
/// model are quoted, and so are names that are not valid in formulae: `"P[0].critical"`.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::model::never_claim;
/// use invigil_model::{Domain, Model, ModelParts, Variable};
/// let variables = vec![Variable::scalar("busy", Domain::Boolean, 0)];
/// let model = Model::new(ModelParts { variables, ..ModelParts::default() }).unwrap();
/// let automaton = never_claim(&model, SourceId(0), "G F busy", "again").unwrap();
/// assert_eq!((automaton.edges.len(), automaton.sets), (2, 1));
/// let diagnostics = never_claim(&model, SourceId(0), "G F bussy", "again").unwrap_err();
/// assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `busy`?"));
/// ```
///
/// # Errors
/// With all errors in the formula.
pub fn never_claim(
    model: &Model,
    source: SourceId,
    text: &str,
    name: &str,
) -> Result<OmegaAutomaton, Vec<Diagnostic>> {
    never_claim_at(model, (source, 0), text, name)
}

/// As [`never_claim`], for a formula within a larger text that starts at the given offset.
///
/// # Errors
/// With all errors in the formula.
pub fn never_claim_at(
    model: &Model,
    (source, offset): (SourceId, u32),
    text: &str,
    name: &str,
) -> Result<OmegaAutomaton, Vec<Diagnostic>> {
    let diagnose = |error| vec![syntax_diagnostic(source, offset as usize, &error)];
    let mut logic = Logic::new(BUDGET);
    let tree = SyntaxTree::parse(text).map_err(diagnose)?;
    let formula = logic.formulae.lower(&tree).map_err(diagnose)?;
    let resolver = AtomResolver { model, source, offset, text };
    let (mut atoms, mut diagnostics) = (HashMap::new(), Vec::new());
    for (proposition, place) in tree.atoms() {
        let atom = logic.formulae.atom_for(proposition.clone());
        if atoms.contains_key(&atom) {
            continue;
        }
        // An atom with an error is reported once.
        let expression = resolver.resolve(proposition, place).unwrap_or_else(|mut errors| {
            diagnostics.append(&mut errors);
            Expression::Constant(0)
        });
        atoms.insert(atom, expression);
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let whole = Span::new(source, offset, offset + text.len() as u32);
    automaton(&mut logic, formula, &atoms, name).map_err(|limit| vec![too_large(whole, limit)])
}

fn too_large(span: Span, limit: TooLarge) -> Diagnostic {
    Diagnostic::error(span, "the automaton for this formula is too large")
        .label(limit.to_string())
        .help("split a conjunction into several claims, or use smaller bounds")
}

/// Returns the automaton of the negated formula.
fn automaton(
    logic: &mut Logic,
    formula: invigil_ltl::Formula,
    atoms: &HashMap<Atom, Expression>,
    name: &str,
) -> Result<OmegaAutomaton, TooLarge> {
    let violation = logic.formulae.not(formula)?;
    let translated = logic.translate(violation)?;
    let (mut edges, mut literals) = (Vec::new(), 0);
    for from in &translated.edges {
        let mut out = Vec::new();
        for edge in from {
            let label = expression(logic, &edge.label, atoms, &mut literals)?;
            out.push(OmegaEdge { label, marks: edge.marks, target: edge.target });
        }
        edges.push(out);
    }
    let is_stutter_invariant = !atoms.values().any(Expression::is_about_steps)
        // If this is too expensive to decide, assume that it is sensitive to stuttering.
        && logic.stuttering(formula).is_ok_and(|found| found == Stuttering::Invariant);
    Ok(OmegaAutomaton {
        name: name.to_owned(),
        initial: translated.initial,
        edges,
        sets: translated.sets,
        is_stutter_invariant,
    })
}

/// Converts a label to an expression, as a short sum of products.
fn expression(
    logic: &Logic,
    label: &Label,
    atoms: &HashMap<Atom, Expression>,
    literals: &mut usize,
) -> Result<Expression, TooLarge> {
    let mut products = Vec::new();
    for cube in logic.labels.cubes(label)? {
        *literals += cube.len();
        if *literals > MAX_LITERALS {
            return Err(TooLarge { resource: "literals in labels", limit: MAX_LITERALS });
        }
        let factors = cube.into_iter().map(|(variable, value)| {
            let atom = match variable {
                Variable::Atom(atom) => atoms.get(&atom),
                Variable::Helper(_) => None,
            };
            // Labels only contain atoms of the formula.
            let factor = atom.cloned().unwrap_or(Expression::Constant(0));
            if value { factor } else { Expression::unary(Unary::Not, factor) }
        });
        products.push(Expression::all(factors.collect()));
    }
    Ok(Expression::any(products))
}

/// Shifts a diagnostic in a part of a text that starts at `by`.
fn shift(mut diagnostic: Diagnostic, by: u32) -> Diagnostic {
    let spans =
        core::iter::once(&mut diagnostic.span).chain(diagnostic.related.iter_mut().map(|(span, _)| span));
    for span in spans {
        *span = Span::new(span.source, span.start + by, span.end + by);
    }
    diagnostic
}

/// Resolves atoms.
struct AtomResolver<'a> {
    model: &'a Model,
    source: SourceId,
    offset: u32,
    text: &'a str,
}

impl AtomResolver<'_> {
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
                None => predicate(self.model, self.source, text).map_err(|diagnostics| {
                    let inside = place.start + 1..place.end.saturating_sub(1);
                    let is_literal = self.text.get(inside.clone()) == Some(text);
                    let moved = diagnostics.into_iter().map(|diagnostic| match is_literal {
                        true => shift(diagnostic, at(inside.start)),
                        // Part of it was written with escapes.
                        false => Diagnostic { span, related: Vec::new(), ..diagnostic },
                    });
                    moved.collect()
                }),
            },
            Proposition::Monitor(name) => Err(vec![
                Diagnostic::error(span, format!("unknown formula `{name}`"))
                    .help("a claim is a single formula: write the referenced formula in full"),
            ]),
            // Only algorithms create these; they cannot be written.
            Proposition::Fresh(_) => Ok(Expression::Constant(0)),
        }
    }

    fn name(&self, name: &str) -> Option<Expression> {
        let parts = self.model.parts();
        if let Some(predicate) = parts.predicates.iter().find(|predicate| predicate.name == name) {
            return Some(predicate.expression.clone());
        }
        if let Some(variable) = self.model.variable_named(name) {
            let of = self.model.variable(variable);
            let is_truth = of.length.is_none() && of.domain == Domain::Boolean;
            return is_truth.then(|| Expression::read(variable));
        }
        if let Some(found) = self.location(name) {
            return Some(found);
        }
        let actions = self.model.actions_named(name);
        (!actions.is_empty()).then_some(Expression::Happens(actions))
    }

    /// Resolves `Train.crossing`: true while the process is at the location.
    fn location(&self, name: &str) -> Option<Expression> {
        let (process, location) = name.rsplit_once('.')?;
        let process = self.model.parts().processes.iter().find(|known| known.name == process)?;
        let at = process.locations.iter().position(|known| known.name == location)?;
        let number = Expression::Constant(at as i64);
        Some(Expression::binary(Binary::Equal, Expression::read(process.location), number))
    }

    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        if let Some(variable) = self.model.variable_named(name) {
            let of = self.model.variable(variable);
            let what = if of.length.is_some() { "an array" } else { "not Boolean" };
            return Diagnostic::error(span, format!("`{name}` is {what}"))
                .label("expected a Boolean")
                .help(format!("compare it, in quotes: \"{name} == …\""));
        }
        let known = self.resolvable_names();
        let diagnostic = Diagnostic::error(span, format!("unknown name `{name}`"));
        match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic
                .help("use a predicate, a Boolean variable, a process at a location (`P.idle`), or an event"),
        }
    }

    /// All names that can be resolved.
    fn resolvable_names(&self) -> Vec<String> {
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
