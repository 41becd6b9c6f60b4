//! Compiling texts with holes: f-strings, and `"…%d…" % value`.

use super::emit::Emit;
use crate::diag::Diagnostic;
use crate::program::{Op, Reg};
use crate::show::Layout;
use ruff_python_ast::{Expr, ExprFString, FStringPart, InterpolatedStringElement, Operator};
use ruff_text_size::Ranged;

/// A piece of a template: text as it is, or a value laid out.
enum Piece<'e> {
    Text(String),
    Value(&'e Expr, Layout),
}

impl Emit<'_> {
    pub(super) fn f_string(&mut self, e: &ExprFString, dst: Reg) {
        let mut pieces = Vec::new();
        for part in e.value.as_slice() {
            match part {
                FStringPart::Literal(literal) => pieces.push(Piece::Text(literal.value.to_string())),
                FStringPart::FString(f_string) => {
                    for element in &f_string.elements {
                        pieces.push(match element {
                            InterpolatedStringElement::Literal(text) => Piece::Text(text.value.to_string()),
                            InterpolatedStringElement::Interpolation(hole) => {
                                if hole.debug_text.is_some() {
                                    self.error(hole, "`{x=}` is not part of the block language");
                                }
                                let mut spec = String::new();
                                if let Some(format_spec) = &hole.format_spec {
                                    for element in &format_spec.elements {
                                        match element {
                                            InterpolatedStringElement::Literal(text) => {
                                                spec.push_str(&text.value)
                                            }
                                            InterpolatedStringElement::Interpolation(inner) => {
                                                self.error(inner, "a format cannot depend on a value here");
                                            }
                                        }
                                    }
                                }
                                let layout = Layout::parse(&spec).unwrap_or_else(|| {
                                    self.error(
                                        hole,
                                        "formats are [0][width][.digits] and one of d x X b o f e s",
                                    );
                                    Layout::default()
                                });
                                let repr = hole.conversion.to_byte().is_some_and(|flag| flag != b's');
                                let form = if repr { b'r' } else { layout.form };
                                Piece::Value(&hole.expression, Layout { form, ..layout })
                            }
                        });
                    }
                }
            }
        }
        self.template(&pieces, dst, e);
    }

    /// Compiles `"template" % values` if `expr` is one, and says whether it was.
    pub(super) fn percent_template(&mut self, expr: &Expr, dst: Reg) -> bool {
        let Expr::BinOp(e) = expr else { return false };
        let Expr::StringLiteral(template) = &*e.left else { return false };
        if e.op != Operator::Mod {
            return false;
        }
        let one = std::slice::from_ref(&*e.right);
        let values = match &*e.right {
            Expr::Tuple(tuple) => &tuple.elts[..],
            _ => one,
        };
        let mut rest = template.value.to_str();
        let mut pieces = Vec::new();
        let mut holes = 0;
        while let Some(percent) = rest.find('%') {
            pieces.push(Piece::Text(rest[..percent].into()));
            rest = &rest[percent + 1..];
            let end =
                rest.find(|c: char| c.is_ascii_alphabetic() || c == '%').map_or(rest.len(), |at| at + 1);
            let (spec, after) = rest.split_at(end);
            rest = after;
            if spec == "%" {
                pieces.push(Piece::Text("%".into()));
                continue;
            }
            let Some(layout) = Layout::parse(&spec.replace(['i', 'u'], "d")).filter(|l| l.form != 0) else {
                self.error(&*e.left, &format!("`%{spec}` is not a format; there are %d %x %f %e %s %r"));
                return true;
            };
            if let Some(value) = values.get(holes) {
                pieces.push(Piece::Value(value, layout));
            }
            holes += 1;
        }
        pieces.push(Piece::Text(rest.into()));
        if holes != values.len() {
            self.report(Diagnostic::error(
                self.block.span(expr.range()),
                format!("the text has {holes} places for values, and {} are given", values.len()),
            ));
            return true;
        }
        self.template(&pieces, dst, expr);
        true
    }

    fn template(&mut self, pieces: &[Piece<'_>], dst: Reg, whole: impl Ranged) {
        let span = self.block.span(whole);
        let first = self.registers(pieces.len());
        for (i, piece) in pieces.iter().enumerate() {
            let reg = first + i as u16;
            match piece {
                Piece::Text(text) => {
                    let text = self.compiler.text(text);
                    let a = self.constant(text);
                    self.op(Op::Move { dst: reg, a }, span);
                }
                Piece::Value(value, layout) => {
                    let mark = self.mark();
                    let a = self.expr(value);
                    let layout = self.compiler.layout(*layout);
                    self.op(Op::Show { dst: reg, a, layout }, span);
                    self.reset(mark);
                }
            }
        }
        self.op(Op::Join { dst, first, n: pieces.len() as u16 }, span);
    }
}
