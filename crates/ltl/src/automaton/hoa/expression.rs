//! Boolean expressions, read without recursion: how deeply they are nested is up to whoever wrote the text.

use super::Stop;
use super::scan::{Reader, Token};

/// A step of an expression in postfix notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<Operand> {
    Operand(Operand),
    Not,
    And,
    Or,
}

/// What waits for its right operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Open,
    Or,
    And,
    Not,
}

impl Waiting {
    fn step<Operand>(self) -> Option<Step<Operand>> {
        match self {
            Waiting::Open => None,
            Waiting::Or => Some(Step::Or),
            Waiting::And => Some(Step::And),
            Waiting::Not => Some(Step::Not),
        }
    }
}

/// Reads an expression as far as it goes. `operand` reads what is no operator.
pub(super) fn read<Operand>(
    reader: &mut Reader<'_>,
    negation: bool,
    mut operand: impl FnMut(&mut Reader<'_>) -> Result<Operand, Stop>,
) -> Result<Vec<Step<Operand>>, Stop> {
    let (mut steps, mut waiting, mut open) = (Vec::new(), Vec::new(), 0_usize);
    loop {
        loop {
            if negation && reader.sign('!')? {
                waiting.push(Waiting::Not);
            } else if reader.sign('(')? {
                waiting.push(Waiting::Open);
                open += 1;
            } else {
                break;
            }
        }
        steps.push(Step::Operand(operand(reader)?));
        loop {
            let next = match reader.token() {
                Token::Sign('&') => Some(Waiting::And),
                Token::Sign('|') => Some(Waiting::Or),
                Token::Sign(')') if open > 0 => None,
                _ if open > 0 => return reader.expected("`)`, `&` or `|`"),
                _ => {
                    steps.extend(waiting.into_iter().rev().filter_map(Waiting::step));
                    return Ok(steps);
                }
            };
            // What binds at least as tightly has its right operand now.
            while let Some(last) = waiting.pop_if(|last| match next {
                None => *last != Waiting::Open,
                Some(Waiting::And) => matches!(last, Waiting::And | Waiting::Not),
                Some(_) => *last != Waiting::Open,
            }) {
                steps.extend(last.step());
            }
            reader.advance()?;
            match next {
                Some(operator) => {
                    waiting.push(operator);
                    break;
                }
                None => {
                    waiting.pop();
                    open -= 1;
                }
            }
        }
    }
}
