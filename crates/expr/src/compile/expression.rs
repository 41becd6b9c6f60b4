//! Compiles expressions.

use super::emit::{Emitter, Variable};
use crate::diag::Diagnostic;
use crate::program::{CollectionKind, Comparison, Mutation, Op, Operand, Reg, Unary};
use crate::value::Value;
use ruff_python_ast::{
    BoolOp, CmpOp, Comprehension, Expr, ExprBoolOp, ExprCompare, ExprDict, ExprIf, Number, UnaryOp,
};
use ruff_text_size::Ranged;

impl Emitter<'_> {
    /// The operand of an expression. Variables and constants are used in place; other values are computed into a
    /// new register.
    pub(super) fn expr(&mut self, expr: &Expr) -> Operand {
        let span = self.block.span(expr.range());
        match expr {
            Expr::Name(name) => return self.read(&name.id, span),
            _ => {
                if let Some(value) = self.literal(expr) {
                    return self.constant(value);
                }
            }
        }
        let dst = self.register();
        self.expr_into(expr, dst);
        Emitter::reg(dst)
    }

    /// The value, if `expr` is a literal.
    fn literal(&mut self, expr: &Expr) -> Option<Value> {
        match expr {
            Expr::NoneLiteral(_) => Some(Value::NONE),
            Expr::BooleanLiteral(literal) => Some(Value::bool(literal.value)),
            Expr::StringLiteral(literal) => Some(self.compiler.text(literal.value.to_str())),
            Expr::NumberLiteral(literal) => match &literal.value {
                Number::Int(int) => int.as_i64().map(Value::int),
                Number::Float(float) => Some(Value::float(*float)),
                Number::Complex { .. } => None,
            },
            Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => match self.literal(&unary.operand)? {
                value if value.as_int().is_some() => value.as_int()?.checked_neg().map(Value::int),
                value => value.as_float().map(|f| Value::float(-f)),
            },
            _ => None,
        }
    }

    /// Compiles an expression; its value goes to `dst`.
    pub(super) fn expr_into(&mut self, expr: &Expr, dst: Reg) {
        let mark = self.mark();
        self.compute(expr, dst);
        self.reset(mark);
    }

    fn compute(&mut self, expr: &Expr, dst: Reg) {
        let span = self.block.span(expr.range());
        if let Some(value) = self.literal(expr) {
            let a = self.constant(value);
            self.op(Op::Move { dst, a }, span);
            return;
        }
        match expr {
            Expr::Name(name) => {
                let a = self.read(&name.id, span);
                self.op(Op::Move { dst, a }, span);
            }
            Expr::NumberLiteral(_) => self
                .error(expr, "numbers must fit 64 bits; complex numbers are not part of the block language"),
            Expr::BinOp(e) => {
                if self.percent_template(expr, dst) {
                    return;
                }
                let (a, b) = (self.expr(&e.left), self.expr(&e.right));
                self.operator(e.op, dst, a, b, span, expr);
            }
            Expr::UnaryOp(e) => {
                let a = self.expr(&e.operand);
                let op = match e.op {
                    UnaryOp::Not => Unary::Not,
                    UnaryOp::USub => Unary::Neg,
                    UnaryOp::UAdd => Unary::Plus,
                    UnaryOp::Invert => Unary::Invert,
                };
                self.op(Op::Unary { op, dst, a }, span);
            }
            Expr::BoolOp(e) => self.connective(e, dst),
            Expr::Compare(e) => self.comparison(e, dst),
            Expr::If(e) => self.choice(e, dst),
            Expr::List(e) => self.build(CollectionKind::List, &e.elts, dst, expr),
            Expr::Tuple(e) => self.build(CollectionKind::Tuple, &e.elts, dst, expr),
            Expr::Set(e) => self.build(CollectionKind::Set, &e.elts, dst, expr),
            Expr::Dict(e) => self.dict(e, dst, expr),
            Expr::Subscript(e) => match &*e.slice {
                Expr::Slice(slice) => {
                    let a = self.expr(&e.value);
                    let first = self.registers(3);
                    for (i, bound) in [&slice.lower, &slice.upper, &slice.step].into_iter().enumerate() {
                        let reg = first + i as u16;
                        match bound {
                            Some(bound) => self.expr_into(bound, reg),
                            None => {
                                let a = self.constant(Value::NONE);
                                self.op(Op::Move { dst: reg, a }, span);
                            }
                        }
                    }
                    self.op(Op::Slice { dst, a, first }, span);
                }
                index => {
                    let (a, b) = (self.expr(&e.value), self.expr(index));
                    self.op(Op::Index { dst, a, b }, span);
                }
            },
            Expr::Call(e) => self.call(e, dst),
            Expr::FString(e) => self.f_string(e, dst),
            Expr::ListComp(e) => self.comprehension(CollectionKind::List, &e.generators, &[&e.elt], dst),
            Expr::Generator(e) => self.comprehension(CollectionKind::List, &e.generators, &[&e.elt], dst),
            Expr::SetComp(e) => self.comprehension(CollectionKind::Set, &e.generators, &[&e.elt], dst),
            Expr::DictComp(e) => match &e.key {
                Some(key) => self.comprehension(CollectionKind::Dict, &e.generators, &[key, &e.value], dst),
                None => self.error(expr, "`**` is not part of the block language"),
            },
            Expr::Attribute(e) => self.report(
                Diagnostic::error(
                    self.block.span(e.attr.range()),
                    format!("values have no fields, only methods: `{}` is not called", e.attr),
                )
                .help("declare the field as a parameter of the event to read it from the program"),
            ),
            Expr::Lambda(_) => self.error(expr, "`lambda` is not part of the block language; use `def`"),
            Expr::Named(_) => self.error(expr, "`:=` is not part of the block language"),
            Expr::Starred(_) => self.error(expr, "`*` is not part of the block language"),
            _ => self.error(expr, "this is not part of the block language"),
        }
    }

    fn build(&mut self, kind: CollectionKind, elements: &[Expr], dst: Reg, whole: &Expr) {
        let first = self.arguments(elements);
        let span = self.block.span(whole.range());
        self.op(Op::Build { kind, dst, first, n: elements.len() as u16 }, span);
    }

    /// Evaluates expressions into consecutive registers; returns the first.
    pub(super) fn arguments(&mut self, args: &[Expr]) -> Reg {
        let first = self.registers(args.len());
        for (i, arg) in args.iter().enumerate() {
            self.expr_into(arg, first + i as u16);
        }
        first
    }

    fn dict(&mut self, e: &ExprDict, dst: Reg, whole: &Expr) {
        let first = self.registers(2 * e.items.len());
        for (i, item) in e.items.iter().enumerate() {
            match &item.key {
                Some(key) => self.expr_into(key, first + 2 * i as u16),
                None => self.error(&item.value, "`**` is not part of the block language"),
            }
            self.expr_into(&item.value, first + 2 * i as u16 + 1);
        }
        let span = self.block.span(whole.range());
        self.op(Op::Build { kind: CollectionKind::Dict, dst, first, n: 2 * e.items.len() as u16 }, span);
    }

    /// Compiles `and` and `or`: the value is that of the deciding operand.
    fn connective(&mut self, e: &ExprBoolOp, dst: Reg) {
        let mut exits = Vec::new();
        let known = self.known.clone();
        for (i, value) in e.values.iter().enumerate() {
            self.expr_into(value, dst);
            if i + 1 < e.values.len() {
                let span = self.block.span(value.range());
                let a = Emitter::reg(dst);
                exits.push(match e.op {
                    BoolOp::And => self.op(Op::JumpUnless { a, to: 0 }, span),
                    BoolOp::Or => self.op(Op::JumpIf { a, to: 0 }, span),
                });
            }
        }
        // Later operands may not be evaluated: their checks do not count.
        self.known = known;
        exits.into_iter().for_each(|exit| self.patch_jump(exit));
    }

    fn comparison(&mut self, e: &ExprCompare, dst: Reg) {
        let mut exits = Vec::new();
        let mut a = self.expr(&e.left);
        let mut left = &*e.left;
        for (i, (op, right)) in e.ops.iter().zip(&e.comparators).enumerate() {
            let span = self.block.span(left.range()).to(self.block.span(right.range()));
            let b = self.expr(right);
            let op = match op {
                CmpOp::Eq => Comparison::Eq,
                CmpOp::NotEq => Comparison::Ne,
                CmpOp::Lt => Comparison::Lt,
                CmpOp::LtE => Comparison::Le,
                CmpOp::Gt => Comparison::Gt,
                CmpOp::GtE => Comparison::Ge,
                CmpOp::In => Comparison::In,
                CmpOp::NotIn => Comparison::NotIn,
                CmpOp::Is => Comparison::Is,
                CmpOp::IsNot => Comparison::IsNot,
            };
            if matches!(op, Comparison::Is | Comparison::IsNot) && !is_singleton(left) && !is_singleton(right)
            {
                self.report(
                    Diagnostic::error(
                        span,
                        "`is` is only allowed with None, True or False: values have no identity",
                    )
                    .help("compare values with `==` or `!=`"),
                );
            }
            self.op(Op::Compare { op, dst, a, b }, span);
            if i + 1 < e.ops.len() {
                exits.push(self.op(Op::JumpUnless { a: Emitter::reg(dst), to: 0 }, span));
            }
            (a, left) = (b, right);
        }
        exits.into_iter().for_each(|exit| self.patch_jump(exit));
    }

    fn choice(&mut self, e: &ExprIf, dst: Reg) {
        let span = self.block.span(e.range());
        let a = self.expr(&e.test);
        let known = self.known.clone();
        let otherwise = self.op(Op::JumpUnless { a, to: 0 }, span);
        self.expr_into(&e.body, dst);
        let end = self.op(Op::Jump { to: 0 }, span);
        self.patch_jump(otherwise);
        self.known = known.clone();
        self.expr_into(&e.orelse, dst);
        self.known = known;
        self.patch_jump(end);
    }

    /// Compiles a comprehension into a list, a set or (two parts) a dict.
    fn comprehension(
        &mut self,
        kind: CollectionKind,
        generators: &[Comprehension],
        parts: &[&Expr],
        dst: Reg,
    ) {
        let span = self.block.span(parts[0].range());
        let result = self.register();
        self.op(Op::Build { kind, dst: result, first: result, n: 0 }, span);
        let (scope, known) = (self.scope.len(), self.known.clone());
        let mut loops = Vec::new();
        for generator in generators {
            if generator.is_async {
                self.error(generator, "`async` is not part of the block language");
            }
            let (iter, ranged) = self.start_loop(&generator.iter);
            self.bind(&generator.target);
            let (head, item, exit) = self.next_item(iter, ranged, &generator.target);
            self.assign(&generator.target, Emitter::reg(item));
            let mut skips = Vec::new();
            for test in &generator.ifs {
                let a = self.expr(test);
                skips.push(self.op(Op::JumpUnless { a, to: 0 }, span));
            }
            loops.push((head, exit, skips));
        }
        let first = self.registers(parts.len());
        for (i, part) in parts.iter().enumerate() {
            self.expr_into(part, first + i as u16);
        }
        let mutation = match kind {
            CollectionKind::Set => Mutation::Add,
            CollectionKind::Dict => Mutation::SetItem,
            CollectionKind::List | CollectionKind::Tuple => Mutation::Append,
        };
        let variable = Emitter::reg(result);
        self.op(Op::Mutate { mutation, variable, first, n: parts.len() as u16 }, span);
        for (head, exit, skips) in loops.into_iter().rev() {
            skips.into_iter().for_each(|skip| self.patch_jump(skip));
            self.op(Op::Loop { to: head }, span);
            self.patch_jump(exit);
        }
        self.scope.truncate(scope);
        self.known = known;
        self.op(Op::Move { dst, a: variable }, span);
    }

    /// Allocates registers for the variables of a comprehension.
    fn bind(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => {
                let reg = self.register();
                self.scope.push((name.id.to_string(), Variable::Local(reg)));
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.bind(target)),
            other => self.error(other, "a loop variable must be a name or a tuple of names"),
        }
    }
}

fn is_singleton(expr: &Expr) -> bool {
    matches!(expr, Expr::NoneLiteral(_) | Expr::BooleanLiteral(_))
}
