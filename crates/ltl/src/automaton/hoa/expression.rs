//! Boolean expressions, parsed without recursion, because the text determines the nesting depth.

use super::ReadError;
use super::scan::{Scanner, Token};

/// Item of an expression in postfix notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostfixItem<Operand> {
    Operand(Operand),
    Not,
    And,
    Or,
}

/// Operator or parenthesis whose right operand is not complete.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PendingOperator {
    Open,
    Or,
    And,
    Not,
}

impl PendingOperator {
    fn item<Operand>(self) -> Option<PostfixItem<Operand>> {
        match self {
            PendingOperator::Open => None,
            PendingOperator::Or => Some(PostfixItem::Or),
            PendingOperator::And => Some(PostfixItem::And),
            PendingOperator::Not => Some(PostfixItem::Not),
        }
    }
}

/// Parses the longest expression at the current token. `operand` parses operands.
pub(super) fn read<Operand>(
    scanner: &mut Scanner<'_>,
    negation: bool,
    mut operand: impl FnMut(&mut Scanner<'_>) -> Result<Operand, ReadError>,
) -> Result<Vec<PostfixItem<Operand>>, ReadError> {
    let (mut items, mut pending, mut open) = (Vec::new(), Vec::new(), 0_usize);
    loop {
        loop {
            if negation && scanner.take_sign('!')? {
                pending.push(PendingOperator::Not);
            } else if scanner.take_sign('(')? {
                pending.push(PendingOperator::Open);
                open += 1;
            } else {
                break;
            }
        }
        items.push(PostfixItem::Operand(operand(scanner)?));
        loop {
            let next = match scanner.token() {
                Token::Sign('&') => Some(PendingOperator::And),
                Token::Sign('|') => Some(PendingOperator::Or),
                Token::Sign(')') if open > 0 => None,
                _ if open > 0 => return scanner.expected("`)`, `&` or `|`"),
                _ => {
                    items.extend(pending.into_iter().rev().filter_map(PendingOperator::item));
                    return Ok(items);
                }
            };
            // The right operands of operators that bind at least as tightly are complete.
            while let Some(last) = pending.pop_if(|last| match next {
                None => *last != PendingOperator::Open,
                Some(PendingOperator::And) => matches!(last, PendingOperator::And | PendingOperator::Not),
                Some(_) => *last != PendingOperator::Open,
            }) {
                items.extend(last.item());
            }
            scanner.advance()?;
            match next {
                Some(operator) => {
                    pending.push(operator);
                    break;
                }
                None => {
                    pending.pop();
                    open -= 1;
                }
            }
        }
    }
}
