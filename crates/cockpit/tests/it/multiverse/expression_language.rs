//! A small expression language for these tests; the real languages have their own tests.

use invigil_cockpit::multiverse::ModelSyntax;
use invigil_explore::breakpoint_search::Breakpoint;
use invigil_model::{Binary, Domain, Expression, Model, OmegaAutomaton, OmegaEdge, Unary};
use invigil_semantics::{Breakpoint as StepBreakpoint, Evaluate};

/// The syntax of models in the test language, for any subject with a model inside.
pub(crate) fn readers<S: Evaluate<Expr = Expression>>(model: &Model) -> ModelSyntax<'_, S> {
    ModelSyntax {
        model,
        expression: Box::new(|text| expression(model, text)),
        formula: Box::new(|text| formula(model, text)),
        // A property file contains a predicate that must never hold.
        property: Box::new(|file| {
            let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
            Ok(Breakpoint::property(StepBreakpoint { condition: expression(model, text.trim())? }))
        }),
    }
}

/// `a == b && happens(c)`, with names of variables, elements `a[1]`, primes, sums, numbers and names of values.
fn expression(model: &Model, text: &str) -> Result<Expression, String> {
    let parts: Result<Vec<_>, String> = text.split("&&").map(|part| comparison(model, part.trim())).collect();
    parts.map(Expression::all)
}

fn comparison(model: &Model, text: &str) -> Result<Expression, String> {
    let called =
        |text: &str| text.split_once('(').map(|(_, name)| model.actions_named(name.trim_end_matches(')')));
    if let Some(actions) = called(text) {
        return Ok(if text.starts_with("enabled") {
            Expression::Enabled(actions)
        } else {
            Expression::Happens(actions)
        });
    }
    for (sign, operator) in [("==", Binary::Equal), ("/", Binary::Divide), ("+", Binary::Add)] {
        if let Some((left, right)) = text.split_once(sign) {
            let (left, right) = (comparison(model, left.trim())?, comparison(model, right.trim())?);
            return Ok(Expression::binary(operator, left, right));
        }
    }
    operand(model, text)
}

fn operand(model: &Model, text: &str) -> Result<Expression, String> {
    if let Ok(number) = text.parse() {
        return Ok(Expression::Constant(number));
    }
    if let Some(name) = text.strip_prefix('@') {
        return Ok(Expression::Before(Box::new(operand(model, name)?)));
    }
    if let Some(variable) = model.variable_named(text) {
        return Ok(Expression::read(variable));
    }
    let element = text.strip_suffix(']').and_then(|text| text.split_once('['));
    if let Some((variable, index)) =
        element.and_then(|(name, index)| Some((model.variable_named(name)?, index)))
    {
        return Ok(Expression::element(variable, operand(model, index)?));
    }
    let kinds = model.parts().variables.iter().map(|variable| &variable.domain);
    let named = kinds.filter_map(|kind| match kind {
        Domain::Names(names) => names.iter().position(|name| name == text),
        _ => None,
    });
    let named = named.map(|value| Expression::Constant(value as i64)).next();
    named.ok_or_else(|| format!("there is no `{text}` in this model"))
}

/// `F p`, `G p` or `G F p`.
fn formula(model: &Model, text: &str) -> Result<OmegaAutomaton, String> {
    let edge = |label, marks, target| OmegaEdge { label, marks, target };
    let (kind, inside) = match text.strip_prefix("G F ") {
        Some(inside) => ("GF", inside),
        None => text.split_once(' ').ok_or("this is no formula")?,
    };
    let p = expression(model, inside)?;
    let not = Expression::unary(Unary::Not, p.clone());
    let edges = match kind {
        "F" => vec![vec![edge(not, 0, 0), edge(p, 0, 1)], vec![edge(Expression::Constant(1), 1, 1)]],
        "G" => vec![vec![edge(p, 1, 0)]],
        "GF" => vec![vec![edge(p, 1, 0), edge(not, 0, 0)]],
        _ => return Err(format!("`{kind}` is no operator")),
    };
    Ok(OmegaAutomaton { name: text.to_owned(), initial: 0, edges, sets: 1, is_stutter_invariant: false })
}
