//! Paraphrases of formulae, operator by operator.

use crate::formula::print::{Operand, Printer, Symbol};
use crate::formula::{Formula, Formulae, Node, Style};

/// Maximum number of operators in a sentence; longer ones are unreadable.
const MAX_OPERATORS: usize = 16;

/// Binding strength of a phrase, from tight to loose.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BindingStrength {
    /// A formula in backquotes.
    Quote,
    /// Words before an operand.
    Prefix,
    /// Words between two operands.
    Infix,
}

type Phrase = (String, BindingStrength);

/// Paraphrases a formula as a sentence; returns `None` if it is too large.
pub(super) fn paraphrase(formulae: &Formulae, formula: Formula) -> Option<String> {
    let printer = Printer::new(formulae, formula, Style::Ascii);
    let mut builder = PhraseBuilder { formulae, printer, operators: 0 };
    let text = match formulae.node(formula) {
        Node::Globally(a) => match builder.formula(*a)? {
            (text, BindingStrength::Infix) => format!("always: {text}"),
            _ => builder.formula(formula)?.0,
        },
        _ => builder.formula(formula)?.0,
    };
    let mut letters = text.chars();
    let first: String = letters.next()?.to_uppercase().collect();
    Some(format!("{first}{}.", letters.as_str()))
}

/// Builder of phrases, which recognises derived and bounded operators as the printer does.
struct PhraseBuilder<'a> {
    formulae: &'a Formulae,
    printer: Printer<'a>,
    /// Operators so far.
    operators: usize,
}

impl PhraseBuilder<'_> {
    /// Returns the phrase for an operand.
    fn operand(&mut self, operand: &Operand) -> Option<Phrase> {
        match operand {
            Operand::Formula(formula) => self.formula(*formula),
            Operand::Disjunction(_) => None,
            Operand::Bounded(symbol, from, to, part) => {
                let words = match (symbol, from) {
                    (Symbol::Finally, 0) => format!("within {to} positions"),
                    (Symbol::Finally, _) => format!("{from} to {to} positions later"),
                    (Symbol::Globally, 0) => format!("now and at the next {to} positions"),
                    (Symbol::Globally, _) => format!("always from {from} to {to} positions later"),
                    (Symbol::Once, 0) => format!("at most {to} positions ago"),
                    (Symbol::Once, _) => format!("{from} to {to} positions ago"),
                    (_, 0) => format!("now and at the previous {to} positions"),
                    _ => format!("always from {to} to {from} positions ago"),
                };
                self.prefix(&words, *part)
            }
        }
    }

    /// Returns the phrase for a formula. The limit on operators bounds the recursion depth.
    fn formula(&mut self, formula: Formula) -> Option<Phrase> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return None;
        }
        if self.is_state(formula) {
            let text = self.formulae.show(formula).truncated_to(200).to_string();
            return Some((format!("`{text}`"), BindingStrength::Quote));
        }
        if let Some(bounded) = self.printer.bounded_operator(formula) {
            return self.operand(&bounded);
        }
        match self.formulae.node(formula).clone() {
            Node::False | Node::True | Node::Atom(_) => None,
            Node::Not(a) => self.prefix("not", a),
            Node::And(parts) => {
                let operands = self.printer.merged_operands(&parts, true);
                Some((self.join(&operands, " and ")?, BindingStrength::Infix))
            }
            Node::Or(parts) => self.disjunction(&parts),
            Node::Next(a) => {
                let (inner, steps) = self.count_steps(a);
                match steps {
                    1 => self.prefix("at the next position", inner),
                    _ => self.prefix(&format!("{steps} positions later"), inner),
                }
            }
            Node::Finally(a) => match *self.formulae.node(a) {
                Node::Globally(inner) => self.prefix("from some position on always", inner),
                _ => self.prefix("eventually", a),
            },
            Node::Globally(a) => match *self.formulae.node(a) {
                Node::Finally(inner) => self.prefix("infinitely often", inner),
                _ => self.prefix("always", a),
            },
            Node::Until([a, b]) => self.infix(a, "until", b, ", which must occur"),
            Node::WeakUntil([a, b]) => self.infix(a, "until", b, ", if it ever occurs"),
            Node::Release([a, b]) => self.infix(b, "up to and including", a, ", if it ever occurs"),
            Node::StrongRelease([a, b]) => self.infix(b, "up to and including", a, ", which must occur"),
            Node::Yesterday(a) => self.prefix("at the previous position", a),
            Node::WeakYesterday(a) => self.prefix("at the previous position, if it exists,", a),
            Node::Once(a) => self.prefix("now or before", a),
            Node::Historically(a) => self.prefix("so far always", a),
            Node::Since([a, b]) => self.infix(a, "since", b, ", which must have occurred"),
            Node::Triggered([a, b]) => self.infix(b, "from", a, " on, if it ever occurred"),
        }
    }

    /// Returns the phrase for a disjunction; as a condition if one side is negated.
    fn disjunction(&mut self, parts: &[Formula]) -> Option<Phrase> {
        let mut operands = self.printer.merged_operands(parts, false);
        let negated = |operand: &Operand| match operand {
            Operand::Formula(formula) if self.printer.bounded_operator(*formula).is_none() => {
                match self.formulae.node(*formula) {
                    Node::Not(a) => Some(*a),
                    _ => None,
                }
            }
            _ => None,
        };
        let premises = operands.iter().enumerate().filter_map(|(at, operand)| Some((negated(operand)?, at)));
        let Some((premise, at)) = premises.min() else {
            return Some((self.join(&operands, " or ")?, BindingStrength::Infix));
        };
        operands.remove(at);
        let premise = self.parenthesised(&Operand::Formula(premise), BindingStrength::Prefix)?;
        let conclusions = self.join(&operands, " or ")?;
        Some((format!("if {premise} then {conclusions}"), BindingStrength::Infix))
    }

    /// Returns a phrase with words before its operand.
    fn prefix(&mut self, words: &str, a: Formula) -> Option<Phrase> {
        let inner = self.parenthesised(&Operand::Formula(a), BindingStrength::Prefix)?;
        Some((format!("{words} {inner}"), BindingStrength::Prefix))
    }

    /// Returns a phrase with words between its operands.
    fn infix(&mut self, a: Formula, words: &str, b: Formula, end: &str) -> Option<Phrase> {
        let a = self.parenthesised(&Operand::Formula(a), BindingStrength::Quote)?;
        let b = self.parenthesised(&Operand::Formula(b), BindingStrength::Quote)?;
        Some((format!("{a} {words} {b}{end}"), BindingStrength::Infix))
    }

    /// Returns the text for an operand, in parentheses if it binds more loosely than required.
    fn parenthesised(&mut self, operand: &Operand, required: BindingStrength) -> Option<String> {
        let (text, binding) = self.operand(operand)?;
        Some(if binding > required { format!("({text})") } else { text })
    }

    fn join(&mut self, operands: &[Operand], word: &str) -> Option<String> {
        let texts: Option<Vec<String>> =
            operands.iter().map(|operand| self.parenthesised(operand, BindingStrength::Prefix)).collect();
        Some(texts?.join(word))
    }

    /// Removes further steps after a first one, and counts all of them.
    fn count_steps(&self, mut formula: Formula) -> (Formula, usize) {
        let mut steps = 1;
        while let Node::Next(a) = self.formulae.node(formula) {
            (formula, steps) = (*a, steps + 1);
        }
        (formula, steps)
    }

    /// Whether a formula is a state formula and not a condition, which has a phrase of its own.
    fn is_state(&self, formula: Formula) -> bool {
        use Node::{And, Atom, False, Not, Or, True};
        let is_not = |part: &Formula| matches!(self.formulae.node(*part), Not(_));
        if matches!(self.formulae.node(formula), Or(parts) if parts.iter().any(is_not)) {
            return false;
        }
        let is_plain = |part: &Formula| {
            matches!(self.formulae.node(*part), And(_) | Atom(_) | False | Not(_) | Or(_) | True)
        };
        self.formulae.subformulae(formula).iter().all(is_plain)
    }
}
