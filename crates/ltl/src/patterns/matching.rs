//! Matching of formulae with the templates of the specification patterns.

use super::normal_form::NormalForms;
use super::table::{PLACEHOLDERS, TABLE, Template};
use super::{Pattern, Scope, Sentence, sentence};
use crate::formula::{Formula, Formulae, Node};
use crate::{Budget, TooLarge};

/// Formulae bound to the placeholders of a template.
pub(super) type Bindings = [Option<Formula>; PLACEHOLDERS.len()];

/// Maximum number of matching steps, more than any instance of a pattern needs.
const MAX_STEPS: usize = 20_000;

/// Maximum number of subformulae of bound formulae that contain temporal operators.
const MAX_BOUND_SIZE: usize = 8;

/// Maximum number of formulae for a normal form.
const MAX_FORMULAE: usize = 1 << 12;

/// Returns the sentence for a formula that is an instance of a pattern.
pub(super) fn pattern_sentence(formulae: &Formulae, formula: Formula) -> Option<Sentence> {
    let PatternMatch { matcher, template, bindings } = best_match(formulae, formula)?;
    if matcher.is_uninformative(template, &bindings) {
        return None;
    }
    let shown = |placeholder: usize| match bindings[placeholder] {
        Some(formula) => format!("`{}`", matcher.normal.formulae.show(formula).truncated_to(200)),
        None => String::new(),
    };
    let names = std::array::from_fn(shown);
    let text = sentence::render(template.pattern, template.scope, &names);
    Some(Sentence { pattern: Some((template.pattern, template.scope)), text })
}

/// Template that a formula matches, with its bindings.
struct PatternMatch {
    matcher: Matcher,
    template: &'static Template,
    bindings: Bindings,
}

/// Returns the match with the smallest bound formulae.
fn best_match(formulae: &Formulae, formula: Formula) -> Option<PatternMatch> {
    let mut normal = NormalForms::new(&Budget { formulae: MAX_FORMULAE, ..Budget::default() });
    let subject = normal.of(formulae, formula).ok()?;
    let mut matcher = Matcher { normal, steps: 0 };
    let mut best: Option<((usize, usize), &Template, Bindings)> = None;
    for template in &TABLE.templates {
        let goal = Goal::Formula(template.formula, subject);
        let Ok(Some(bindings)) = matcher.solve(vec![goal], Bindings::default()) else { continue };
        let residual_size = matcher.residual_size(&bindings);
        if best.as_ref().is_none_or(|(least, ..)| residual_size < *least) {
            best = Some((residual_size, template, bindings));
        }
    }
    let (_, template, bindings) = best?;
    Some(PatternMatch { matcher, template, bindings })
}

/// Remaining subproblem: a formula of a template and a formula of the subject that must match.
#[derive(Clone)]
enum Goal {
    Formula(Formula, Formula),
    /// The operands of a conjunction or of a disjunction, in any order.
    Set {
        template: Vec<Formula>,
        subject: Vec<Formula>,
        and: bool,
    },
}

/// Backtracking matcher with a limit on its steps.
struct Matcher {
    normal: NormalForms,
    steps: usize,
}

impl Matcher {
    /// Returns bindings that solve all goals. The recursion depth is bounded by the depth of the templates.
    fn solve(&mut self, mut goals: Vec<Goal>, mut bindings: Bindings) -> Result<Option<Bindings>, TooLarge> {
        while let Some(goal) = goals.pop() {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Ok(None);
            }
            match goal {
                Goal::Formula(template, subject) => {
                    if !self.match_operator(template, subject, &mut goals, &mut bindings)? {
                        return Ok(None);
                    }
                }
                Goal::Set { mut template, subject, and } => {
                    // Operands with an operator are matched first, because they bind the placeholders.
                    let Some(at) = template.iter().position(|part| as_placeholder(*part).is_none()) else {
                        goals.insert(0, Goal::Set { template, subject, and });
                        if goals.iter().all(|goal| self.has_only_placeholders(goal)) {
                            return self.solve_sets(goals, bindings);
                        }
                        continue;
                    };
                    let part = template.swap_remove(at);
                    for candidate in 0..subject.len() {
                        let mut rest = subject.clone();
                        let chosen = rest.swap_remove(candidate);
                        let mut next = goals.clone();
                        next.push(Goal::Set { template: template.clone(), subject: rest, and });
                        next.push(Goal::Formula(part, chosen));
                        if let Some(solved) = self.solve(next, bindings)? {
                            return Ok(Some(solved));
                        }
                    }
                    return Ok(None);
                }
            }
        }
        Ok(Some(bindings))
    }

    /// Matches the outermost operator of a formula; its operands become goals.
    fn match_operator(
        &mut self,
        template: Formula,
        subject: Formula,
        goals: &mut Vec<Goal>,
        bindings: &mut Bindings,
    ) -> Result<bool, TooLarge> {
        if let Some((placeholder, positive)) = as_placeholder(template) {
            let value = if positive { subject } else { self.normal.not(subject)? };
            return Ok(*bindings[placeholder].get_or_insert(value) == value);
        }
        let (template, subject) = (TABLE.normal.formulae.node(template), self.normal.formulae.node(subject));
        if std::mem::discriminant(template) != std::mem::discriminant(subject) {
            return Ok(false);
        }
        if let Node::And(_) | Node::Or(_) = template {
            let and = matches!(template, Node::And(_));
            goals.push(Goal::Set {
                template: template.parts().to_vec(),
                subject: subject.parts().to_vec(),
                and,
            });
        } else {
            let pairs = template.parts().iter().zip(subject.parts());
            goals.extend(pairs.map(|(template, subject)| Goal::Formula(*template, *subject)));
        }
        Ok(true)
    }

    fn has_only_placeholders(&self, goal: &Goal) -> bool {
        match goal {
            Goal::Formula(..) => false,
            Goal::Set { template, .. } => template.iter().all(|part| as_placeholder(*part).is_some()),
        }
    }

    /// Solves sets that contain only placeholders: a bound placeholder consumes the operands of its formula, and the last
    /// unbound one consumes the rest.
    fn solve_sets(
        &mut self,
        mut goals: Vec<Goal>,
        mut bindings: Bindings,
    ) -> Result<Option<Bindings>, TooLarge> {
        while !goals.is_empty() {
            let before = goals.len();
            for goal in std::mem::take(&mut goals) {
                let Goal::Set { template, subject: whole, and } = goal else { return Ok(None) };
                let mut subject = whole.clone();
                let mut unknown = Vec::new();
                for (placeholder, positive) in template.iter().filter_map(|part| as_placeholder(*part)) {
                    let Some(value) = bindings[placeholder] else {
                        unknown.push((placeholder, positive));
                        continue;
                    };
                    let value = if positive { value } else { self.normal.not(value)? };
                    for operand in self.normal.operands(value, and) {
                        match subject.iter().position(|part| *part == operand) {
                            Some(at) => drop(subject.swap_remove(at)),
                            None => return Ok(None),
                        }
                    }
                }
                match unknown[..] {
                    [] if subject.is_empty() => {}
                    [(placeholder, positive)] if !subject.is_empty() => {
                        let value = self.normal.join(subject, and)?;
                        bindings[placeholder] =
                            Some(if positive { value } else { self.normal.not(value)? });
                    }
                    [_, _, ..] => goals.push(Goal::Set { template, subject: whole, and }),
                    _ => return Ok(None),
                }
            }
            // Only sets with several unbound placeholders are left.
            if goals.len() == before {
                return self.guess(&goals, bindings);
            }
        }
        Ok(Some(bindings))
    }

    /// Tries each operand of a set for its first unbound placeholder. The number of placeholders bounds the depth.
    fn guess(&mut self, goals: &[Goal], bindings: Bindings) -> Result<Option<Bindings>, TooLarge> {
        let Some(Goal::Set { template, subject, .. }) = goals.first() else { return Ok(None) };
        let unknown = |(placeholder, _): &(usize, bool)| bindings[*placeholder].is_none();
        let Some((placeholder, positive)) =
            template.iter().filter_map(|part| as_placeholder(*part)).find(unknown)
        else {
            return Ok(None);
        };
        for operand in subject {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                break;
            }
            let mut guessed = bindings;
            guessed[placeholder] = Some(if positive { *operand } else { self.normal.not(*operand)? });
            if let Some(solved) = self.solve_sets(goals.to_vec(), guessed)? {
                return Ok(Some(solved));
            }
        }
        Ok(None)
    }

    /// Returns the size of the bound formulae. A smaller size means that the pattern explains more of the formula.
    fn residual_size(&self, bindings: &Bindings) -> (usize, usize) {
        let formulae = &self.normal.formulae;
        let parts = bindings.iter().flatten().flat_map(|formula| formulae.subformulae(*formula));
        let (all, negations): (Vec<Formula>, Vec<Formula>) =
            parts.partition(|part| !matches!(formulae.node(*part), Node::Not(_)));
        (all.len(), negations.len())
    }

    /// Whether the pattern covers only the outermost operator, so that a paraphrase is clearer.
    fn is_uninformative(&self, template: &Template, bindings: &Bindings) -> bool {
        let formulae = &self.normal.formulae;
        let is_temporal = |part: &Formula| {
            use Node::{And, Atom, False, Not, Or, True};
            !matches!(formulae.node(*part), And(_) | Atom(_) | False | Not(_) | Or(_) | True)
        };
        let mut nested = bindings.iter().flatten().flat_map(|formula| formulae.subformulae(*formula));
        let temporal = nested.any(|part| is_temporal(&part));
        let first = bindings[0].map(|formula| formulae.node(formula));
        if temporal && self.residual_size(bindings).0 > MAX_BOUND_SIZE {
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

/// Returns the placeholder of a literal in a template, and whether it is positive.
fn as_placeholder(template: Formula) -> Option<(usize, bool)> {
    match TABLE.normal.formulae.node(template) {
        Node::Atom(atom) => Some((atom.0 as usize, true)),
        Node::Not(a) => as_placeholder(*a).map(|(placeholder, positive)| (placeholder, !positive)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::normal_form::tests::XorShift64;
    use super::super::table::TEMPLATES;
    use super::*;
    use crate::word::Lasso;

    /// Substitutes formulae for the placeholders of a template.
    fn instantiate(template: &str, resolve: impl Fn(usize) -> String) -> String {
        let fill =
            |placeholder: char| match PLACEHOLDERS.iter().position(|name| name.starts_with(placeholder)) {
                Some(at) => format!("({})", resolve(at)),
                None => placeholder.to_string(),
            };
        template.chars().map(fill).collect()
    }

    #[test]
    fn matched_template_is_equivalent_to_formula() {
        let (mut recognised, cases) = (0, 4000);
        for seed in 1..=cases {
            let mut random = XorShift64::new(seed);
            let parts: Vec<String> =
                PLACEHOLDERS.iter().map(|_| random.formula(1 + (seed % 3) as usize)).collect();
            let text = instantiate(TEMPLATES[random.below(TEMPLATES.len())].2, |placeholder| {
                parts[placeholder].clone()
            });
            let mut formulae = Formulae::new(&Budget::default());
            let formula = formulae.parse(&text).unwrap();
            let Some(PatternMatch { matcher, template, bindings }) = best_match(&formulae, formula) else {
                continue;
            };
            recognised += 1;
            let resolve = |placeholder: usize| {
                bindings[placeholder]
                    .map_or("true".to_owned(), |formula| matcher.normal.formulae.show(formula).to_string())
            };
            let at = TABLE.templates.iter().position(|other| other.formula == template.formula).unwrap();
            let again = instantiate(TEMPLATES[at].2, resolve);
            let same = formulae.parse(&again).unwrap();
            for _ in 0..20 {
                let (prefix, cycle) = (random.below(4), 1 + random.below(3));
                let word = Lasso {
                    prefix: random.letters(&formulae, prefix),
                    cycle: random.letters(&formulae, cycle),
                };
                let (one, other) = (word.satisfies(&formulae, formula), word.satisfies(&formulae, same));
                assert_eq!(one, other, "seed {seed}: {text} is not {again}");
            }
        }
        assert!(recognised * 10 > cases * 8, "{recognised} of {cases}");
    }
}
