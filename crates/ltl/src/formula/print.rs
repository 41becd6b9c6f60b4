//! Formulae as text, with derived operators and bounds recognised.

mod expansion;
mod printer;
mod style;

pub(crate) use printer::{Operand, Printer};
pub use style::Style;
pub(crate) use style::Symbol;

use super::{Formula, Formulae};
use printer::Fragment;
use std::fmt;

/// Text form of a formula, with the fewest parentheses that parse to the same formula.
///
/// Implications, equivalences, `xor` and bounded operators are stored in expanded form. Common expansions are recognised
/// and printed with these operators.
#[derive(Clone, Copy, Debug)]
pub struct FormulaDisplay<'a> {
    formulae: &'a Formulae,
    formula: Formula,
    style: Style,
    limit: usize,
}

/// Default limit in bytes. The text of a formula with shared subformulae can be exponentially longer than its storage.
const DEFAULT_LIMIT: usize = 1 << 20;

impl Formulae {
    /// Returns the formula as text.
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
    pub fn show(&self, formula: Formula) -> FormulaDisplay<'_> {
        FormulaDisplay { formulae: self, formula, style: Style::Ascii, limit: DEFAULT_LIMIT }
    }
}

impl FormulaDisplay<'_> {
    /// Sets the style.
    pub fn style(self, style: Style) -> Self {
        FormulaDisplay { style, ..self }
    }

    /// Truncates the text to about this many bytes, with `…` at the end if anything is omitted.
    pub fn truncated_to(self, bytes: usize) -> Self {
        FormulaDisplay { limit: bytes, ..self }
    }
}

impl fmt::Display for FormulaDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = Printer::new(self.formulae, self.formula, self.style);
        let mut open = vec![Fragment::Operand(Operand::Formula(self.formula), 0)];
        let mut written = 0;
        while let Some(fragment) = open.pop() {
            match fragment {
                Fragment::Text(text) => {
                    if written + text.len() > self.limit {
                        return f.write_str("…");
                    }
                    written += text.len();
                    f.write_str(&text)?;
                }
                Fragment::Operand(operand, precedence) => {
                    let rendering = printer.render(operand);
                    let parenthesised = rendering.precedence < precedence;
                    if parenthesised {
                        open.push(Fragment::text(")"));
                    }
                    open.extend(rendering.fragments.into_iter().rev());
                    if parenthesised {
                        open.push(Fragment::text("("));
                    }
                }
                Fragment::SpacedOperand(operand, precedence) => {
                    let spaced = printer.precedence(&operand) >= precedence;
                    open.push(Fragment::Operand(operand, precedence));
                    if spaced {
                        open.push(Fragment::text(" "));
                    }
                }
            }
        }
        Ok(())
    }
}
