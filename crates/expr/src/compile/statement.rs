//! Compiles statements.

use super::BlockRole;
use super::emit::{Emitter, Variable};
use crate::diag::Diagnostic;
use crate::program::{Mutation, Op, Operand, Reg};
use crate::value::Value;
use ruff_python_ast::{ExceptHandler, Expr, ExprSubscript, Operator, Stmt, StmtAugAssign};
use ruff_text_size::Ranged;
use std::collections::BTreeSet;

/// Collects the names that statements assign.
pub(super) fn assigned(body: &[Stmt], names: &mut BTreeSet<String>) {
    fn target(expr: &Expr, names: &mut BTreeSet<String>) {
        match expr {
            Expr::Name(name) => drop(names.insert(name.id.to_string())),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|e| target(e, names)),
            Expr::List(list) => list.elts.iter().for_each(|e| target(e, names)),
            _ => {}
        }
    }
    for stmt in body {
        match stmt {
            Stmt::Assign(assign) => assign.targets.iter().for_each(|e| target(e, names)),
            Stmt::AugAssign(assign) => target(&assign.target, names),
            Stmt::AnnAssign(assign) => target(&assign.target, names),
            Stmt::For(stmt) => {
                target(&stmt.target, names);
                assigned(&stmt.body, names);
            }
            Stmt::While(stmt) => assigned(&stmt.body, names),
            Stmt::If(stmt) => {
                assigned(&stmt.body, names);
                stmt.elif_else_clauses.iter().for_each(|clause| assigned(&clause.body, names));
            }
            Stmt::Try(stmt) => {
                assigned(&stmt.body, names);
                for ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
                    assigned(&handler.body, names);
                }
            }
            _ => {}
        }
    }
}

/// The names that the statements of a function declare `global`.
pub(super) fn declared_global(body: &[Stmt]) -> BTreeSet<String> {
    let names = body.iter().filter_map(|stmt| match stmt {
        Stmt::Global(global) => Some(global.names.iter().map(ToString::to_string)),
        _ => None,
    });
    names.flatten().collect()
}

impl Emitter<'_> {
    pub(super) fn statements(&mut self, body: &[Stmt]) {
        for stmt in body {
            let mark = self.mark();
            self.statement(stmt);
            self.reset(mark);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        let span = self.block.span(stmt.range());
        if self.role == Some(BlockRole::Functions) && !allowed_among_functions(stmt) {
            self.error(stmt, "a file of functions must contain only functions");
            return;
        }
        match stmt {
            Stmt::Pass(_) => {}
            Stmt::Expr(stmt) => self.expression_statement(&stmt.value),
            Stmt::Assign(assign) => {
                let value = self.assigned_value(&assign.value);
                if assign.targets.len() > 1 {
                    self.keep_last();
                }
                for target in &assign.targets {
                    self.assign(target, value);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    let value = self.assigned_value(value);
                    self.assign(&assign.target, value);
                }
            }
            Stmt::AugAssign(assign) => self.augmented_assignment(assign),
            Stmt::Delete(delete) => {
                for target in &delete.targets {
                    match target {
                        Expr::Subscript(subscript) => {
                            let first = self.registers(1);
                            self.expr_into(&subscript.slice, first);
                            self.change(&subscript.value, Mutation::DelItem, first, 1, target);
                        }
                        other => self.error(other, "only elements can be deleted: `del table[key]`"),
                    }
                }
            }
            Stmt::Return(stmt) => self.return_statement(stmt),
            Stmt::If(stmt) => self.if_statement(stmt),
            Stmt::While(stmt) => self.while_statement(stmt),
            Stmt::For(stmt) => self.for_statement(stmt),
            Stmt::Break(_) => {
                let at = self.op(Op::Jump { to: 0 }, span);
                match self.loops.last_mut() {
                    Some(innermost) => innermost.breaks.push(at),
                    None => self.error(stmt, "`break` outside a loop"),
                }
            }
            Stmt::Continue(_) => match self.loops.last() {
                Some(innermost) => {
                    let to = innermost.head;
                    self.op(Op::Loop { to }, span);
                }
                None => self.error(stmt, "`continue` outside a loop"),
            },
            Stmt::Try(stmt) => self.try_statement(stmt),
            Stmt::Assert(stmt) => {
                let a = self.expr(&stmt.test);
                let message = match &stmt.msg {
                    Some(message) => self.expr(message),
                    None => self.constant(Value::NONE),
                };
                self.op(Op::Assert { a, message }, span);
            }
            Stmt::FunctionDef(_)
                if matches!(
                    self.role,
                    Some(BlockRole::Initialization | BlockRole::Functions | BlockRole::Reaction)
                ) => {}
            Stmt::FunctionDef(def) => self.report(
                Diagnostic::error(self.block.span(&def.name), "functions cannot be defined here")
                    .help("put it into `initialization` or into a file of functions"),
            ),
            Stmt::Import(import) => self.report_import(&import.names, stmt),
            Stmt::ImportFrom(_) => self.report_import(&[], stmt),
            // Its names were added to the scope of the function.
            Stmt::Global(_) if self.role.is_none() && self.compiler.shared.is_some() => {}
            Stmt::Global(_) | Stmt::Nonlocal(_) => self.report(
                Diagnostic::error(span, "`global` is not allowed here")
                    .help("pass the value as an argument and return the new one"),
            ),
            Stmt::Raise(_) => self.error(stmt, "`raise` is not part of the block language; `assert` is"),
            Stmt::ClassDef(_) => self.error(stmt, "classes are not part of the block language"),
            Stmt::With(_) => self.error(stmt, "`with` is not part of the block language"),
            Stmt::Match(_) => {
                self.error(stmt, "`match` is not part of the block language; use `if` and `elif`");
            }
            Stmt::TypeAlias(_) | Stmt::IpyEscapeCommand(_) => {
                self.error(stmt, "this is not part of the block language");
            }
        }
    }

    /// Reports an import. `import gdb` of published properties is only a warning.
    fn report_import(&mut self, names: &[ruff_python_ast::Alias], stmt: &Stmt) {
        let span = self.block.span(stmt.range());
        if let [name] = names
            && name.name.as_str() == "gdb"
        {
            self.report(
                Diagnostic::warning(span, "`import` is not allowed in blocks: this line is ignored")
                    .help("`gdb.execute(…)` works without it, as `debugger(…)`"),
            );
        } else {
            self.report(
                Diagnostic::error(span, "`import` is not allowed in blocks")
                    .help("define functions in a file and pass it with `--functions`"),
            );
        }
    }

    // ---- assignment ----------------------------------------------------------------------------------

    /// Compiles the right side of an assignment, which may be a mutating method (`x = queue.pop()`).
    ///
    /// Such methods are otherwise only allowed as statements.
    fn assigned_value(&mut self, value: &Expr) -> Operand {
        match self.mutating_call(value) {
            Some(result) => Emitter::reg(result),
            None => self.expr(value),
        }
    }

    fn expression_statement(&mut self, expr: &Expr) {
        if self.mutating_call(expr).is_none() && !self.print_call(expr) && !expr.is_string_literal_expr() {
            self.expr(expr);
        }
    }

    pub(super) fn assign(&mut self, target: &Expr, value: Operand) {
        let span = self.block.span(target.range());
        match target {
            Expr::Name(name) => match self.writable(&name.id, span) {
                Some(Variable::Local(dst)) => {
                    if value != Emitter::reg(dst) {
                        self.op(Op::Move { dst, a: value }, span);
                    }
                    self.known.insert(Variable::Local(dst));
                }
                Some(Variable::Env(slot)) => {
                    let op = match self.take_back(value) {
                        Some(Op::Add { a, b, .. }) => Op::AddTo { slot, a, b },
                        Some(Op::Sub { a, b, .. }) => Op::SubTo { slot, a, b },
                        Some(other) => {
                            self.op(other, span);
                            Op::Store { slot, a: value }
                        }
                        None => Op::Store { slot, a: value },
                    };
                    self.op(op, span);
                    self.known.insert(Variable::Env(slot));
                }
                _ => {}
            },
            Expr::Subscript(subscript) => {
                let first = self.registers(2);
                self.expr_into(&subscript.slice, first);
                self.op(Op::Move { dst: first + 1, a: value }, span);
                self.change(&subscript.value, Mutation::SetItem, first, 2, target);
            }
            Expr::Tuple(tuple) => self.unpack(&tuple.elts, value, target),
            Expr::List(list) => self.unpack(&list.elts, value, target),
            other => self.error(other, "cannot assign to this expression"),
        }
    }

    fn unpack(&mut self, targets: &[Expr], value: Operand, whole: &Expr) {
        let span = self.block.span(whole.range());
        let first = self.registers(targets.len());
        self.op(Op::Unpack { a: value, first, n: targets.len() as u16 }, span);
        for (i, target) in targets.iter().enumerate() {
            if let Expr::Starred(_) = target {
                self.error(target, "`*` is not part of the block language");
            } else {
                self.assign(target, Emitter::reg(first + i as u16));
            }
        }
    }

    fn augmented_assignment(&mut self, assign: &StmtAugAssign) {
        let span = self.block.span(assign.range());
        let dst = self.register();
        match &*assign.target {
            Expr::Subscript(subscript) => {
                // The key is evaluated once.
                let first = self.registers(2);
                self.expr_into(&subscript.slice, first);
                let a = self.expr(&subscript.value);
                self.op(Op::Index { dst, a, b: Emitter::reg(first) }, span);
                let b = self.expr(&assign.value);
                self.operator(assign.op, dst, Emitter::reg(dst), b, span, &assign.target);
                self.op(Op::Move { dst: first + 1, a: Emitter::reg(dst) }, span);
                self.change(&subscript.value, Mutation::SetItem, first, 2, &assign.target);
            }
            target => {
                let a = self.expr(target);
                let b = self.expr(&assign.value);
                self.operator(assign.op, dst, a, b, span, target);
                self.assign(target, Emitter::reg(dst));
            }
        }
    }

    pub(super) fn operator(
        &mut self,
        op: Operator,
        dst: Reg,
        a: Operand,
        b: Operand,
        span: crate::diag::Span,
        node: &Expr,
    ) {
        use crate::program::Binary;
        let op = match op {
            Operator::Add => Op::Add { dst, a, b },
            Operator::Sub => Op::Sub { dst, a, b },
            Operator::Mult => Op::Binary { op: Binary::Mul, dst, a, b },
            Operator::Div => Op::Binary { op: Binary::Div, dst, a, b },
            Operator::FloorDiv => Op::Binary { op: Binary::FloorDiv, dst, a, b },
            Operator::Mod => Op::Binary { op: Binary::Mod, dst, a, b },
            Operator::Pow => Op::Binary { op: Binary::Pow, dst, a, b },
            Operator::BitAnd => Op::Binary { op: Binary::BitAnd, dst, a, b },
            Operator::BitOr => Op::Binary { op: Binary::BitOr, dst, a, b },
            Operator::BitXor => Op::Binary { op: Binary::BitXor, dst, a, b },
            Operator::LShift => Op::Binary { op: Binary::Shl, dst, a, b },
            Operator::RShift => Op::Binary { op: Binary::Shr, dst, a, b },
            Operator::MatMult => {
                self.error(node, "`@` is not part of the block language");
                return;
            }
        };
        self.op(op, span);
    }

    /// Applies a mutation to `target`, a variable or an element of one. Arguments are at `first`, where the result
    /// goes. An element is read, changed and written back.
    pub(super) fn change(&mut self, target: &Expr, mutation: Mutation, first: Reg, n: u16, whole: &Expr) {
        let span = self.block.span(whole.range());
        match target {
            Expr::Name(name) => {
                let name_span = self.block.span(name.range());
                self.read(&name.id, name_span);
                if let Some(variable) = self.writable(&name.id, name_span) {
                    let variable = self.operand(variable);
                    self.op(Op::Mutate { mutation, variable, first, n }, span);
                }
            }
            Expr::Subscript(ExprSubscript { value, slice, .. }) => {
                let element = self.register();
                let outer = self.registers(2);
                self.expr_into(slice, outer);
                let a = self.expr(value);
                self.op(Op::Index { dst: element, a, b: Emitter::reg(outer) }, span);
                self.op(Op::Mutate { mutation, variable: Emitter::reg(element), first, n }, span);
                self.op(Op::Move { dst: outer + 1, a: Emitter::reg(element) }, span);
                self.change(value, Mutation::SetItem, outer, 2, whole);
            }
            other => self.report(
                Diagnostic::error(self.block.span(other.range()), "only variables can be changed")
                    .help("assign the value to a variable first"),
            ),
        }
    }
}

fn allowed_among_functions(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::FunctionDef(_) | Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_) => true,
        Stmt::Expr(stmt) => matches!(&*stmt.value, Expr::StringLiteral(_)),
        _ => false,
    }
}
