//! Formulae in words, operator by operator.

use crate::formula::print::{Operand, Printer, Sign};
use crate::formula::{Formula, Formulae, Node, Style};

/// A sentence with more operators than this cannot be followed.
const MOST_OPERATORS: usize = 16;

/// How something said holds together, from tight to loose.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hold {
    /// A formula in quotes.
    Quote,
    /// Words before something.
    Words,
    /// Words between two things.
    Between,
}

type Said = (String, Hold);

/// A sentence for a small formula.
pub(super) fn sentence(formulae: &Formulae, formula: Formula) -> Option<String> {
    let printer = Printer::new(formulae, formula, Style::Ascii);
    let mut speaker = Speaker { formulae, printer, operators: 0 };
    let text = match formulae.node(formula) {
        Node::Globally(a) => match speaker.whole(*a)? {
            (text, Hold::Between) => format!("always: {text}"),
            _ => speaker.whole(formula)?.0,
        },
        _ => speaker.whole(formula)?.0,
    };
    let mut letters = text.chars();
    let first: String = letters.next()?.to_uppercase().collect();
    Some(format!("{first}{}.", letters.as_str()))
}

struct Speaker<'a> {
    formulae: &'a Formulae,
    printer: Printer<'a>,
    operators: usize,
}

impl Speaker<'_> {
    /// What is said of an operand.
    fn say(&mut self, operand: &Operand) -> Option<Said> {
        match operand {
            Operand::Whole(formula) => self.whole(*formula),
            Operand::Any(_) => None,
            Operand::Bounded(sign, from, to, part) => {
                let words = match (sign, from) {
                    (Sign::Finally, 0) => format!("within {to} instants"),
                    (Sign::Finally, _) => format!("{from} to {to} instants later"),
                    (Sign::Globally, 0) => format!("now and for {to} more instants"),
                    (Sign::Globally, _) => format!("always from {from} to {to} instants later"),
                    (Sign::Once, 0) => format!("at most {to} instants ago"),
                    (Sign::Once, _) => format!("{from} to {to} instants ago"),
                    (_, 0) => format!("now and for the last {to} instants"),
                    _ => format!("always from {to} to {from} instants ago"),
                };
                self.before(&words, *part)
            }
        }
    }

    /// What a formula says. It goes no deeper than there may be operators.
    fn whole(&mut self, formula: Formula) -> Option<Said> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS {
            return None;
        }
        if self.is_state(formula) {
            let text = self.formulae.show(formula).at_most(200).to_string();
            return Some((format!("`{text}`"), Hold::Quote));
        }
        if let Some(bounded) = self.printer.bounded(formula) {
            return self.say(&bounded);
        }
        match self.formulae.node(formula).clone() {
            Node::False | Node::True | Node::Atom(_) => None,
            Node::Not(a) => self.before("not", a),
            Node::And(parts) => {
                let operands = self.printer.gathered(&parts, true);
                Some((self.join(&operands, " and ")?, Hold::Between))
            }
            Node::Or(parts) => self.choice(&parts),
            Node::Next(a) => {
                let (inner, steps) = self.steps(a);
                match steps {
                    1 => self.before("at the next instant", inner),
                    _ => self.before(&format!("{steps} instants later"), inner),
                }
            }
            Node::Finally(a) => match *self.formulae.node(a) {
                Node::Globally(inner) => self.before("from some time on always", inner),
                _ => self.before("at some time", a),
            },
            Node::Globally(a) => match *self.formulae.node(a) {
                Node::Finally(inner) => self.before("again and again", inner),
                _ => self.before("always", a),
            },
            Node::Until([a, b]) => self.between(a, "until", b, ", which comes"),
            Node::WeakUntil([a, b]) => self.between(a, "until", b, ", if that ever comes"),
            Node::Release([a, b]) => self.between(b, "up to and with", a, ", if that ever comes"),
            Node::StrongRelease([a, b]) => self.between(b, "up to and with", a, ", which comes"),
            Node::Yesterday(a) => self.before("at the instant before", a),
            Node::WeakYesterday(a) => self.before("at the instant before, if there is one,", a),
            Node::Once(a) => self.before("now or before", a),
            Node::Historically(a) => self.before("so far always", a),
            Node::Since([a, b]) => self.between(a, "ever since", b, ", which came"),
            Node::Triggered([a, b]) => self.between(b, "ever since and with", a, ", if that ever came"),
        }
    }

    /// A choice; a condition if one side is negated.
    fn choice(&mut self, parts: &[Formula]) -> Option<Said> {
        let mut operands = self.printer.gathered(parts, false);
        let negated = |operand: &Operand| match operand {
            Operand::Whole(formula) if self.printer.bounded(*formula).is_none() => {
                match self.formulae.node(*formula) {
                    Node::Not(a) => Some(*a),
                    _ => None,
                }
            }
            _ => None,
        };
        let causes = operands.iter().enumerate().filter_map(|(at, operand)| Some((negated(operand)?, at)));
        let Some((cause, at)) = causes.min() else {
            return Some((self.join(&operands, " or ")?, Hold::Between));
        };
        operands.remove(at);
        let cause = self.inside(&Operand::Whole(cause), Hold::Words)?;
        let effects = self.join(&operands, " or ")?;
        Some((format!("if {cause} then {effects}"), Hold::Between))
    }

    fn before(&mut self, words: &str, a: Formula) -> Option<Said> {
        let inner = self.inside(&Operand::Whole(a), Hold::Words)?;
        Some((format!("{words} {inner}"), Hold::Words))
    }

    fn between(&mut self, a: Formula, words: &str, b: Formula, end: &str) -> Option<Said> {
        let a = self.inside(&Operand::Whole(a), Hold::Quote)?;
        let b = self.inside(&Operand::Whole(b), Hold::Quote)?;
        Some((format!("{a} {words} {b}{end}"), Hold::Between))
    }

    /// In parentheses, if it holds together less than it should.
    fn inside(&mut self, operand: &Operand, hold: Hold) -> Option<String> {
        let (text, held) = self.say(operand)?;
        Some(if held > hold { format!("({text})") } else { text })
    }

    fn join(&mut self, operands: &[Operand], word: &str) -> Option<String> {
        let said: Option<Vec<String>> =
            operands.iter().map(|operand| self.inside(operand, Hold::Words)).collect();
        Some(said?.join(word))
    }

    /// What is left behind more steps, and how many there are with the first.
    fn steps(&self, mut formula: Formula) -> (Formula, usize) {
        let mut steps = 1;
        while let Node::Next(a) = self.formulae.node(formula) {
            (formula, steps) = (*a, steps + 1);
        }
        (formula, steps)
    }

    /// Whether it speaks of one instant only, and is no condition, which has words of its own.
    fn is_state(&self, formula: Formula) -> bool {
        use Node::{And, Atom, False, Not, Or, True};
        let is_not = |part: &Formula| matches!(self.formulae.node(*part), Not(_));
        if matches!(self.formulae.node(formula), Or(parts) if parts.iter().any(is_not)) {
            return false;
        }
        let is_plain = |part: &Formula| {
            matches!(self.formulae.node(*part), And(_) | Atom(_) | False | Not(_) | Or(_) | True)
        };
        self.formulae.within(formula).iter().all(is_plain)
    }
}
