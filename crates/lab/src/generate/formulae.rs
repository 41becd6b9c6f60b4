//! Random formulae of temporal logic.

use super::Random;
use invigil_decent::system::{PropositionId, System};
use invigil_ltl::TooLarge;
use invigil_ltl::formula::{Formula, Formulae, Node, Proposition};
use rand::RngExt;

/// How a formula looks: how large it is, and how often each operator is chosen against the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Operators and propositions.
    pub size: usize,
    /// Of `!`.
    pub not: u32,
    /// Of `X`.
    pub next: u32,
    /// Of `F`.
    pub finally: u32,
    /// Of `G`.
    pub globally: u32,
    /// Of `U`.
    pub until: u32,
    /// Of `&`.
    pub and: u32,
    /// Of `|`.
    pub or: u32,
}

impl Default for Shape {
    /// That of the synthetic benchmark.
    fn default() -> Shape {
        Shape { size: 15, not: 1, next: 2, finally: 1, globally: 1, until: 1, and: 1, or: 1 }
    }
}

/// The operators that can be chosen.
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

impl Shape {
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

    /// An operator for a formula of this size, which is more than one.
    fn draw(&self, size: usize, random: &mut Random) -> Option<Operator> {
        let sum: u32 = self.operators(size > 2).map(|(_, often)| often).sum();
        if sum == 0 {
            return None;
        }
        let mut left = random.random_range(0..sum);
        self.operators(size > 2).find_map(|(operator, often)| match left.checked_sub(often) {
            Some(less) => {
                left = less;
                None
            }
            None => Some(operator),
        })
    }
}

/// A formula over propositions of every component: it is drawn until it mentions all of them. None if none did in a hundred
/// thousand attempts: then it is too small.
///
/// # Errors
/// If there are too many formulae.
pub fn formula(
    formulae: &mut Formulae,
    system: &System,
    shape: &Shape,
    random: &mut Random,
) -> Result<Option<Formula>, TooLarge> {
    let names: Vec<_> = system.propositions().collect();
    if names.is_empty() {
        return Ok(None);
    }
    for _ in 0..100_000 {
        let drawn = draw(shape, names.len(), random);
        let mentioned = drawn.iter().filter_map(|step| match step {
            Step::Name(name) => Some(names[*name]),
            Step::Operator(_) => None,
        });
        if !are_all(system, mentioned) {
            continue;
        }
        let mut stack = Vec::new();
        for step in drawn {
            let made = match step {
                Step::Name(name) => formulae.name(system.name(names[name]))?,
                Step::Operator(operator) => {
                    let last = stack.pop().unwrap_or(Formula::TRUE);
                    make(formulae, operator, last, &mut stack)?
                }
            };
            stack.push(made);
        }
        // `a & !a` is not there any more.
        if let Some(made) = stack.pop()
            && are_all(system, names_in(formulae, made).filter_map(|name| system.find(name)))
        {
            return Ok(Some(made));
        }
    }
    Ok(None)
}

/// Whether some propositions are of all components.
fn are_all(system: &System, propositions: impl Iterator<Item = PropositionId>) -> bool {
    let mut has = vec![false; system.components().len()];
    propositions.for_each(|proposition| has[system.owner(proposition).index()] = true);
    has.iter().all(|has| *has)
}

fn names_in(formulae: &Formulae, formula: Formula) -> impl Iterator<Item = &str> {
    formulae.within(formula).into_iter().filter_map(|part| match formulae.node(part) {
        Node::Atom(atom) => match formulae.proposition(*atom) {
            Proposition::Name(name) => Some(name.as_str()),
            _ => None,
        },
        _ => None,
    })
}

/// A formula, from the inside out.
enum Step {
    Name(usize),
    Operator(Operator),
}

fn draw(shape: &Shape, names: usize, random: &mut Random) -> Vec<Step> {
    let mut drawn = Vec::new();
    // The sizes of parts that are still to be drawn. Parts come before the operator when all is turned round.
    let mut open = vec![shape.size.max(1)];
    while let Some(size) = open.pop() {
        let operator = if size > 1 { shape.draw(size, random) } else { None };
        match operator {
            None => drawn.push(Step::Name(random.random_range(0..names))),
            Some(operator) => {
                drawn.push(Step::Operator(operator));
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

fn make(
    formulae: &mut Formulae,
    operator: Operator,
    last: Formula,
    stack: &mut Vec<Formula>,
) -> Result<Formula, TooLarge> {
    let mut other = || stack.pop().unwrap_or(Formula::TRUE);
    match operator {
        Operator::Not => formulae.not(last),
        Operator::Next => formulae.next(last),
        Operator::Finally => formulae.finally(last),
        Operator::Globally => formulae.globally(last),
        Operator::Until => formulae.until(last, other()),
        Operator::And => formulae.and([last, other()]),
        Operator::Or => formulae.or([last, other()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{random, system};
    use invigil_ltl::{Budget, Logic};

    #[test]
    fn formulae_mention_every_component() {
        let (system, mut random) = (system(4, 2).unwrap(), random(7, 0));
        let mut kinds = std::collections::HashSet::new();
        for _ in 0..200 {
            let mut logic = Logic::new(Budget::default());
            let made =
                formula(&mut logic.formulae, &system, &Shape::default(), &mut random).unwrap().unwrap();
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
    fn one_that_is_too_small_is_not_looked_for_for_ever() {
        let (system, mut random) = (system(3, 1).unwrap(), random(7, 0));
        let mut logic = Logic::new(Budget::default());
        let shape = Shape { size: 2, ..Shape::default() };
        assert_eq!(formula(&mut logic.formulae, &system, &shape, &mut random), Ok(None));
    }
}
