//! Compiles string templates: f-strings and `"…%d…" % value`.

use super::emit::Emitter;
use crate::diag::Diagnostic;
use crate::program::{Op, Reg};
use crate::show::FormatSpec;
use ruff_python_ast::{Expr, ExprFString, FStringPart, InterpolatedStringElement, Operator};
use ruff_text_size::Ranged;

/// Part of a template: literal text or a formatted value.
enum TemplatePart<'e> {
    Text(String),
    Value(&'e Expr, FormatSpec),
}

impl Emitter<'_> {
    pub(super) fn f_string(&mut self, e: &ExprFString, dst: Reg) {
        let mut parts = Vec::new();
        for part in e.value.as_slice() {
            match part {
                FStringPart::Literal(literal) => parts.push(TemplatePart::Text(literal.value.to_string())),
                FStringPart::FString(f_string) => {
                    for element in &f_string.elements {
                        parts.push(match element {
                            InterpolatedStringElement::Literal(text) => TemplatePart::Text(text.value.to_string()),
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
                                                self.error(inner, "nested replacement fields are not part of the block language");
                                            }
                                        }
                                    }
                                }
                                let format = FormatSpec::parse(&spec).unwrap_or_else(|| {
                                    self.error(
                                        hole,
                                        "unknown format: expected [0][width][.digits] and one of d x X b o f e s",
                                    );
                                    FormatSpec::default()
                                });
                                let repr = hole.conversion.to_byte().is_some_and(|flag| flag != b's');
                                let conversion = if repr { b'r' } else { format.conversion };
                                TemplatePart::Value(&hole.expression, FormatSpec { conversion, ..format })
                            }
                        });
                    }
                }
            }
        }
        self.template(&parts, dst, e);
    }

    /// Compiles `expr` if it is `"template" % values`; returns whether it is.
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
        let mut parts = Vec::new();
        let mut holes = 0;
        while let Some(percent) = rest.find('%') {
            parts.push(TemplatePart::Text(rest[..percent].into()));
            rest = &rest[percent + 1..];
            let end =
                rest.find(|c: char| c.is_ascii_alphabetic() || c == '%').map_or(rest.len(), |at| at + 1);
            let (spec, after) = rest.split_at(end);
            rest = after;
            if spec == "%" {
                parts.push(TemplatePart::Text("%".into()));
                continue;
            }
            let Some(format) =
                FormatSpec::parse(&spec.replace(['i', 'u'], "d")).filter(|format| format.conversion != 0)
            else {
                self.error(&*e.left, &format!("unknown format `%{spec}`; supported are %d %x %f %e %s %r"));
                return true;
            };
            if let Some(value) = values.get(holes) {
                parts.push(TemplatePart::Value(value, format));
            }
            holes += 1;
        }
        parts.push(TemplatePart::Text(rest.into()));
        if holes != values.len() {
            self.report(Diagnostic::error(
                self.block.span(expr.range()),
                format!("the template has {holes} placeholders but {} values", values.len()),
            ));
            return true;
        }
        self.template(&parts, dst, expr);
        true
    }

    fn template(&mut self, parts: &[TemplatePart<'_>], dst: Reg, whole: impl Ranged) {
        let span = self.block.span(whole);
        let first = self.registers(parts.len());
        for (i, part) in parts.iter().enumerate() {
            let reg = first + i as u16;
            match part {
                TemplatePart::Text(text) => {
                    let text = self.compiler.text(text);
                    let a = self.constant(text);
                    self.op(Op::Move { dst: reg, a }, span);
                }
                TemplatePart::Value(value, format) => {
                    let mark = self.mark();
                    let a = self.expr(value);
                    let format = self.compiler.format(*format);
                    self.op(Op::Show { dst: reg, a, format }, span);
                    self.reset(mark);
                }
            }
        }
        self.op(Op::Join { dst, first, n: parts.len() as u16 }, span);
    }
}
