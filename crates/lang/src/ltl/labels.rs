//! Renders labels with the propositions of the formula.

use invigil_ltl::formula::{Formulae, Proposition};
use invigil_ltl::label::{Cube, Variable};

/// The maximum number of products shown; more are unreadable.
const MAX_PRODUCTS: usize = 12;

/// Returns the proposition of a label variable.
pub(super) fn proposition(formulae: &Formulae, variable: Variable) -> Option<&Proposition> {
    match variable {
        Variable::Atom(atom) => Some(formulae.proposition(atom)),
        Variable::Helper(_) => None,
    }
}

/// Renders a sum of products: `a & !b | c`.
pub(super) fn sum(cubes: &[Cube], formulae: &Formulae) -> String {
    let literal = |(variable, value): &(Variable, bool)| {
        let text = proposition(formulae, *variable).map_or_else(|| "?".to_owned(), ToString::to_string);
        if *value { text } else { format!("!{text}") }
    };
    let product = |cube: &Cube| -> String {
        let mut literals = cube.clone();
        literals.sort_unstable();
        literals.iter().map(literal).collect::<Vec<_>>().join(" & ")
    };
    let mut products: Vec<String> = cubes.iter().map(product).collect();
    products.sort_by_key(String::len);
    if products.len() > MAX_PRODUCTS {
        products.truncate(MAX_PRODUCTS);
        products.push("…".to_owned());
    }
    match &products[..] {
        [] => "false".to_owned(),
        [one] if one.is_empty() => "true".to_owned(),
        several => several.join(" | "),
    }
}
