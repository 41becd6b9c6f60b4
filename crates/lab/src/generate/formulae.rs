//! Random LTL formulae.

use super::Random;
use invigil_decent::system::{PropositionId, System};
use invigil_ltl::TooLarge;
use invigil_ltl::formula::{Formula, Formulae, Node, Proposition};
use rand::RngExt;

/// Shape of random formulae: size and relative frequency of each operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormulaShape {
    /// Number of operators and propositions.
    pub size: usize,
    /// Frequency of `!`.
    pub not: u32,
    /// Frequency of `X`.
    pub next: u32,
    /// Frequency of `F`.
    pub finally: u32,
    /// Frequency of `G`.
    pub globally: u32,
    /// Frequency of `U`.
    pub until: u32,
    /// Frequency of `&`.
    pub and: u32,
    /// Frequency of `|`.
    pub or: u32,
}

impl Default for FormulaShape {
    /// The shape of the synthetic benchmark [EH18 §8.2.3].
    fn default() -> FormulaShape {
        FormulaShape { size: 15, not: 1, next: 2, finally: 1, globally: 1, until: 1, and: 1, or: 1 }
    }
}

#[derive(Clone, Copy)]
enum Operator {
    Not,
    Next,
    Finally,
    Globally,
    Until,
    And,
    Or,
}

impl FormulaShape {
    fn operators(&self, with_binary: bool) -> impl Iterator<Item = (Operator, u32)> {
        let unary = [
            (Operator::Not, self.not),
            (Operator::Next, self.next),
            (Operator::Finally, self.finally),
            (Operator::Globally, self.globally),
        ];
        let binary = [(Operator::Until, self.until), (Operator::And, self.and), (Operator::Or, self.or)];
        unary.into_iter().chain(binary.into_iter().filter(move |_| with_binary))
    }

    /// Draws the operator of a formula with this size, which must be greater than one.
    fn draw_operator(&self, size: usize, random: &mut Random) -> Option<Operator> {
        let sum: u32 = self.operators(size > 2).map(|(_, frequency)| frequency).sum();
        if sum == 0 {
            return None;
        }
        let mut remaining = random.random_range(0..sum);
        self.operators(size > 2).find_map(|(operator, frequency)| match remaining.checked_sub(frequency) {
            Some(rest) => {
                remaining = rest;
                None
            }
            None => Some(operator),
        })
    }
}

/// Draws formulae until one contains propositions of every component. `None` if there are no propositions, or if a
/// hundred thousand attempts fail because the size is too small.
///
/// # Errors
/// Fails if there are too many formulae.
pub fn formula(
    formulae: &mut Formulae,
    system: &System,
    shape: &FormulaShape,
    random: &mut Random,
) -> Result<Option<Formula>, TooLarge> {
    let names: Vec<_> = system.propositions().collect();
    if names.is_empty() {
        return Ok(None);
    }
    for _ in 0..100_000 {
        let drawn = draw_postfix(shape, names.len(), random);
        let mentioned = drawn.iter().filter_map(|item| match item {
            PostfixItem::Name(name) => Some(names[*name]),
            PostfixItem::Operator(_) => None,
        });
        if !cover_all_components(system, mentioned) {
            continue;
        }
        let mut stack = Vec::new();
        for item in drawn {
            let made = match item {
                PostfixItem::Name(name) => formulae.name(system.proposition_name(names[name]))?,
                PostfixItem::Operator(operator) => {
                    let operand = stack.pop().unwrap_or(Formula::TRUE);
                    apply(formulae, operator, operand, &mut stack)?
                }
            };
            stack.push(made);
        }
        // Simplification may have removed propositions, as in `a & !a`.
        if let Some(made) = stack.pop()
            && cover_all_components(
                system,
                names_in(formulae, made).filter_map(|name| system.find_proposition(name)),
            )
        {
            return Ok(Some(made));
        }
    }
    Ok(None)
}

/// Returns whether the propositions cover all components.
fn cover_all_components(system: &System, propositions: impl Iterator<Item = PropositionId>) -> bool {
    let mut has = vec![false; system.components().len()];
    propositions.for_each(|proposition| has[system.owner(proposition).index()] = true);
    has.iter().all(|has| *has)
}

fn names_in(formulae: &Formulae, formula: Formula) -> impl Iterator<Item = &str> {
    formulae.subformulae(formula).into_iter().filter_map(|part| match formulae.node(part) {
        Node::Atom(atom) => match formulae.proposition(*atom) {
            Proposition::Name(name) => Some(name.as_str()),
            _ => None,
        },
        _ => None,
    })
}

/// Element of a formula in postfix order.
enum PostfixItem {
    Name(usize),
    Operator(Operator),
}

fn draw_postfix(shape: &FormulaShape, proposition_count: usize, random: &mut Random) -> Vec<PostfixItem> {
    let mut drawn = Vec::new();
    // Sizes of operands that are still to be drawn. Reversing the result puts operands before operators.
    let mut open = vec![shape.size.max(1)];
    while let Some(size) = open.pop() {
        let operator = if size > 1 { shape.draw_operator(size, random) } else { None };
        match operator {
            None => drawn.push(PostfixItem::Name(random.random_range(0..proposition_count))),
            Some(operator) => {
                drawn.push(PostfixItem::Operator(operator));
                match operator {
                    Operator::Until | Operator::And | Operator::Or => {
                        let left = random.random_range(1..size - 1);
                        open.extend([left, size - 1 - left]);
                    }
                    _ => open.push(size - 1),
                }
            }
        }
    }
    drawn.reverse();
    drawn
}

fn apply(
    formulae: &mut Formulae,
    operator: Operator,
    operand: Formula,
    stack: &mut Vec<Formula>,
) -> Result<Formula, TooLarge> {
    let mut other = || stack.pop().unwrap_or(Formula::TRUE);
    match operator {
        Operator::Not => formulae.not(operand),
        Operator::Next => formulae.next(operand),
        Operator::Finally => formulae.finally(operand),
        Operator::Globally => formulae.globally(operand),
        Operator::Until => formulae.until(operand, other()),
        Operator::And => formulae.and([operand, other()]),
        Operator::Or => formulae.or([operand, other()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{random, system};
    use invigil_ltl::{Budget, Logic};

    #[test]
    fn random_formula_covers_all_components_and_operators() {
        let (system, mut random) = (system(4, 2).unwrap(), random(7, 0));
        let mut kinds = std::collections::HashSet::new();
        for _ in 0..200 {
            let mut logic = Logic::new(Budget::default());
            let made = formula(&mut logic.formulae, &system, &FormulaShape::default(), &mut random)
                .unwrap()
                .unwrap();
            let text = logic.formulae.show(made).to_string();
            for component in ["a", "b", "c", "d"] {
                assert!(text.contains(component), "{text}");
            }
            assert_eq!(logic.parse(&text), Ok(made), "{text}");
            kinds.extend(text.chars().filter(|symbol| "!XFGU&|".contains(*symbol)));
        }
        assert_eq!(kinds.len(), 7, "{kinds:?}");
    }

    #[test]
    fn too_small_size_gives_no_formula() {
        let (system, mut random) = (system(3, 1).unwrap(), random(7, 0));
        let mut logic = Logic::new(Budget::default());
        let shape = FormulaShape { size: 2, ..FormulaShape::default() };
        assert_eq!(formula(&mut logic.formulae, &system, &shape, &mut random), Ok(None));
    }
}
