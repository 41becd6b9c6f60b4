//! Whether a formula is a pattern with formulae in the places of its letters.

use super::normal::Normal;
use super::table::{LETTERS, TABLE, Template};
use super::{Pattern, Scope, Sentence, phrases};
use crate::formula::{Formula, Formulae, Node};
use crate::{Budget, TooLarge};

/// What the letters stand for.
pub(super) type Letters = [Option<Formula>; LETTERS.len()];

/// More steps than any formula that is a pattern needs.
const MOST_STEPS: usize = 20_000;

/// The most formulae inside of what the letters stand for, if there are temporal operators among them.
const MOST_INSIDE: usize = 8;

/// Formulae that a normal form may be made of.
const MOST_FORMULAE: usize = 1 << 12;

/// The sentence for a formula that is a pattern.
pub(super) fn sentence(formulae: &Formulae, formula: Formula) -> Option<Sentence> {
    let Match { search, template, letters } = best(formulae, formula)?;
    if search.says_little(template, &letters) {
        return None;
    }
    let shown = |letter: usize| match letters[letter] {
        Some(formula) => format!("`{}`", search.normal.formulae.show(formula).at_most(200)),
        None => String::new(),
    };
    let names = std::array::from_fn(shown);
    let text = phrases::sentence(template.pattern, template.scope, &names);
    Some(Sentence { pattern: Some((template.pattern, template.scope)), text })
}

/// A pattern that a formula is.
struct Match {
    search: Search,
    template: &'static Template,
    letters: Letters,
}

/// The pattern that leaves least to be understood.
fn best(formulae: &Formulae, formula: Formula) -> Option<Match> {
    let mut normal = Normal::new(&Budget { formulae: MOST_FORMULAE, ..Budget::default() });
    let subject = normal.of(formulae, formula).ok()?;
    let mut search = Search { normal, steps: 0 };
    let mut best: Option<((usize, usize), &Template, Letters)> = None;
    for template in &TABLE.templates {
        let goal = Goal::One(template.formula, subject);
        let Ok(Some(letters)) = search.solve(vec![goal], Letters::default()) else { continue };
        let effort = search.effort(&letters);
        if best.as_ref().is_none_or(|(least, ..)| effort < *least) {
            best = Some((effort, template, letters));
        }
    }
    let (_, template, letters) = best?;
    Some(Match { search, template, letters })
}

/// What is left to be matched: formulae of the table with formulae of the subject.
#[derive(Clone)]
enum Goal {
    One(Formula, Formula),
    /// The operands of a conjunction, or of a disjunction, in any order.
    Set {
        wanted: Vec<Formula>,
        found: Vec<Formula>,
        and: bool,
    },
}

struct Search {
    normal: Normal,
    steps: usize,
}

impl Search {
    /// What the letters must stand for, so that all goals are reached. Its depth is bounded by that of the
    /// table's formulae.
    fn solve(&mut self, mut goals: Vec<Goal>, mut letters: Letters) -> Result<Option<Letters>, TooLarge> {
        while let Some(goal) = goals.pop() {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Ok(None);
            }
            match goal {
                Goal::One(wanted, found) => {
                    if !self.one(wanted, found, &mut goals, &mut letters)? {
                        return Ok(None);
                    }
                }
                Goal::Set { mut wanted, found, and } => {
                    // What has a structure finds its place first, and settles what letters stand for.
                    let Some(at) = wanted.iter().position(|part| literal(*part).is_none()) else {
                        goals.insert(0, Goal::Set { wanted, found, and });
                        if goals.iter().all(|goal| self.is_of_letters(goal)) {
                            return self.letters(goals, letters);
                        }
                        continue;
                    };
                    let part = wanted.swap_remove(at);
                    for candidate in 0..found.len() {
                        let mut rest = found.clone();
                        let chosen = rest.swap_remove(candidate);
                        let mut next = goals.clone();
                        next.push(Goal::Set { wanted: wanted.clone(), found: rest, and });
                        next.push(Goal::One(part, chosen));
                        if let Some(solved) = self.solve(next, letters)? {
                            return Ok(Some(solved));
                        }
                    }
                    return Ok(None);
                }
            }
        }
        Ok(Some(letters))
    }

    /// Matches one formula, as far as its outermost operator; the rest becomes goals.
    fn one(
        &mut self,
        wanted: Formula,
        found: Formula,
        goals: &mut Vec<Goal>,
        letters: &mut Letters,
    ) -> Result<bool, TooLarge> {
        if let Some((letter, positive)) = literal(wanted) {
            let value = if positive { found } else { self.normal.not(found)? };
            return Ok(*letters[letter].get_or_insert(value) == value);
        }
        let (wanted, found) = (TABLE.normal.formulae.node(wanted), self.normal.formulae.node(found));
        if std::mem::discriminant(wanted) != std::mem::discriminant(found) {
            return Ok(false);
        }
        if let Node::And(_) | Node::Or(_) = wanted {
            let and = matches!(wanted, Node::And(_));
            goals.push(Goal::Set { wanted: wanted.parts().to_vec(), found: found.parts().to_vec(), and });
        } else {
            let pairs = wanted.parts().iter().zip(found.parts());
            goals.extend(pairs.map(|(wanted, found)| Goal::One(*wanted, *found)));
        }
        Ok(true)
    }

    fn is_of_letters(&self, goal: &Goal) -> bool {
        match goal {
            Goal::One(..) => false,
            Goal::Set { wanted, .. } => wanted.iter().all(|part| literal(*part).is_some()),
        }
    }

    /// The goals are sets in which only letters are left: a known one takes what it stands for, and the last
    /// unknown one takes what remains.
    fn letters(&mut self, mut goals: Vec<Goal>, mut letters: Letters) -> Result<Option<Letters>, TooLarge> {
        while !goals.is_empty() {
            let before = goals.len();
            for goal in std::mem::take(&mut goals) {
                let Goal::Set { wanted, found: whole, and } = goal else { return Ok(None) };
                let mut found = whole.clone();
                let mut unknown = Vec::new();
                for (letter, positive) in wanted.iter().filter_map(|part| literal(*part)) {
                    let Some(value) = letters[letter] else {
                        unknown.push((letter, positive));
                        continue;
                    };
                    let value = if positive { value } else { self.normal.not(value)? };
                    for operand in self.normal.operands(value, and) {
                        match found.iter().position(|part| *part == operand) {
                            Some(at) => drop(found.swap_remove(at)),
                            None => return Ok(None),
                        }
                    }
                }
                match unknown[..] {
                    [] if found.is_empty() => {}
                    [(letter, positive)] if !found.is_empty() => {
                        let value = self.normal.all(found, and)?;
                        letters[letter] = Some(if positive { value } else { self.normal.not(value)? });
                    }
                    [_, _, ..] => goals.push(Goal::Set { wanted, found: whole, and }),
                    _ => return Ok(None),
                }
            }
            // Only sets with several unknown letters are left.
            if goals.len() == before {
                return self.guess(&goals, letters);
            }
        }
        Ok(Some(letters))
    }

    /// Tries each operand of a set for its first unknown letter. There are only so many letters.
    fn guess(&mut self, goals: &[Goal], letters: Letters) -> Result<Option<Letters>, TooLarge> {
        let Some(Goal::Set { wanted, found, .. }) = goals.first() else { return Ok(None) };
        let unknown = |(letter, _): &(usize, bool)| letters[*letter].is_none();
        let Some((letter, positive)) = wanted.iter().filter_map(|part| literal(*part)).find(unknown) else {
            return Ok(None);
        };
        for operand in found {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                break;
            }
            let mut guessed = letters;
            guessed[letter] = Some(if positive { *operand } else { self.normal.not(*operand)? });
            if let Some(solved) = self.letters(goals.to_vec(), guessed)? {
                return Ok(Some(solved));
            }
        }
        Ok(None)
    }

    /// How much is left to be understood in what the letters stand for: the less, the better the pattern.
    fn effort(&self, letters: &Letters) -> (usize, usize) {
        let formulae = &self.normal.formulae;
        let parts = letters.iter().flatten().flat_map(|formula| formulae.within(*formula));
        let (all, negations): (Vec<Formula>, Vec<Formula>) =
            parts.partition(|part| !matches!(formulae.node(*part), Node::Not(_)));
        (all.len(), negations.len())
    }

    /// Whether the pattern is only the outermost operator of something that words say better.
    fn says_little(&self, template: &Template, letters: &Letters) -> bool {
        let formulae = &self.normal.formulae;
        let is_temporal = |part: &Formula| {
            use Node::{And, Atom, False, Not, Or, True};
            !matches!(formulae.node(*part), And(_) | Atom(_) | False | Not(_) | Or(_) | True)
        };
        let mut inside = letters.iter().flatten().flat_map(|formula| formulae.within(*formula));
        let temporal = inside.any(|part| is_temporal(&part));
        let first = letters[0].map(|formula| formulae.node(formula));
        if temporal && self.effort(letters).0 > MOST_INSIDE {
            return true;
        }
        template.scope == Scope::Globally
            && match template.pattern {
                Pattern::Universality => temporal || matches!(first, Some(Node::Or(_))),
                Pattern::Absence | Pattern::Existence | Pattern::Persistence | Pattern::Recurrence => {
                    temporal
                }
                Pattern::Precedence => matches!(first, Some(Node::Not(_))),
                _ => false,
            }
    }
}

/// The letter that a formula of the table is, and whether it is not negated.
fn literal(wanted: Formula) -> Option<(usize, bool)> {
    match TABLE.normal.formulae.node(wanted) {
        Node::Atom(atom) => Some((atom.0 as usize, true)),
        Node::Not(a) => literal(*a).map(|(letter, positive)| (letter, !positive)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::normal::tests::Dice;
    use super::super::table::TEMPLATES;
    use super::*;
    use crate::word::Lasso;

    /// A pattern with formulae in the place of its letters.
    fn filled(template: &str, meaning: impl Fn(usize) -> String) -> String {
        let fill = |letter: char| match LETTERS.iter().position(|name| name.starts_with(letter)) {
            Some(at) => format!("({})", meaning(at)),
            None => letter.to_string(),
        };
        template.chars().map(fill).collect()
    }

    #[test]
    fn what_is_recognised_says_the_same() {
        let (mut recognised, cases) = (0, 4000);
        for seed in 1..=cases {
            let mut dice = Dice::new(seed);
            let parts: Vec<String> = LETTERS.iter().map(|_| dice.formula(1 + (seed % 3) as usize)).collect();
            let text = filled(TEMPLATES[dice.below(TEMPLATES.len())].2, |letter| parts[letter].clone());
            let mut formulae = Formulae::new(&Budget::default());
            let formula = formulae.parse(&text).unwrap();
            let Some(Match { search, template, letters }) = best(&formulae, formula) else { continue };
            recognised += 1;
            let meaning = |letter: usize| {
                letters[letter]
                    .map_or("true".to_owned(), |formula| search.normal.formulae.show(formula).to_string())
            };
            let at = TABLE.templates.iter().position(|other| other.formula == template.formula).unwrap();
            let again = filled(TEMPLATES[at].2, meaning);
            let same = formulae.parse(&again).unwrap();
            for _ in 0..20 {
                let (prefix, cycle) = (dice.below(4), 1 + dice.below(3));
                let word =
                    Lasso { prefix: dice.letters(&formulae, prefix), cycle: dice.letters(&formulae, cycle) };
                let (one, other) = (word.satisfies(&formulae, formula), word.satisfies(&formulae, same));
                assert_eq!(one, other, "seed {seed}: {text} is not {again}");
            }
        }
        assert!(recognised * 10 > cases * 8, "{recognised} of {cases}");
    }
}
