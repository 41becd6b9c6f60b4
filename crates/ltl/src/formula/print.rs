//! Formulae as text.

mod style;
mod view;
mod window;

pub(crate) use style::Sign;
pub use style::Style;
pub(crate) use view::{Operand, Printer};

use super::{Formula, Formulae};
use std::fmt;
use view::Piece;

/// A formula as text that is read as the same formula again, with no parentheses that it does not need.
///
/// What was written with `->`, `<->`, `xor` or a bound is recognised where that is plain to see.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    formulae: &'a Formulae,
    formula: Formula,
    style: Style,
    limit: usize,
}

/// A formula that shares its parts can be longer than all paper. This is enough to read.
const LONGEST: usize = 1 << 20;

impl Formulae {
    /// A formula as text.
    ///
    /// ```
    /// use invigil_ltl::{Budget, Logic, formula::Style};
    /// let mut formulae = Logic::new(Budget::default()).formulae;
    /// let formula = formulae.parse("(a) U ((!b) || ([] (<> (c))))").unwrap();
    /// let shown = formulae.show(formula);
    /// assert_eq!(shown.to_string(), "a U (b -> G F c)");
    /// assert_eq!(shown.style(Style::Unicode).to_string(), "a U (b → □◇c)");
    /// assert_eq!(shown.style(Style::Spin).to_string(), "a U (b -> []<>c)");
    /// ```
    pub fn show(&self, formula: Formula) -> Shown<'_> {
        Shown { formulae: self, formula, style: Style::Ascii, limit: LONGEST }
    }
}

impl Shown<'_> {
    /// The same in another style.
    pub fn style(self, style: Style) -> Self {
        Shown { style, ..self }
    }

    /// The same, but no more than about so many bytes of it; then `…` says that there is more.
    pub fn at_most(self, bytes: usize) -> Self {
        Shown { limit: bytes, ..self }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = Printer::new(self.formulae, self.formula, self.style);
        let mut open = vec![Piece::Part(Operand::Whole(self.formula), 0)];
        let mut written = 0;
        while let Some(piece) = open.pop() {
            match piece {
                Piece::Text(text) => {
                    if written + text.len() > self.limit {
                        return f.write_str("…");
                    }
                    written += text.len();
                    f.write_str(&text)?;
                }
                Piece::Part(operand, strength) => {
                    let view = printer.view(operand);
                    let inside = view.strength < strength;
                    if inside {
                        open.push(Piece::text(")"));
                    }
                    open.extend(view.pieces.into_iter().rev());
                    if inside {
                        open.push(Piece::text("("));
                    }
                }
                Piece::Apart(operand, strength) => {
                    let gap = printer.strength(&operand) >= strength;
                    open.push(Piece::Part(operand, strength));
                    if gap {
                        open.push(Piece::text(" "));
                    }
                }
            }
        }
        Ok(())
    }
}
