//! Compiles control flow: `return`, `if`, loops and `try`.

use super::BlockRole;
use super::emit::{Emitter, Loop, Variable};
use crate::diag::{Diagnostic, nearest};
use crate::fault::FaultKind;
use crate::program::{Handler, Op, Operand, Reg};
use crate::value::Value;
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtFor, StmtIf, StmtReturn, StmtTry, StmtWhile};
use ruff_text_size::Ranged;
use std::collections::BTreeSet;

impl Emitter<'_> {
    pub(super) fn return_statement(&mut self, stmt: &StmtReturn) {
        let span = self.block.span(stmt.range());
        let a = match (self.role, &stmt.value) {
            (Some(BlockRole::Initialization), _) => {
                self.error(stmt, "`initialization` cannot return a value");
                return;
            }
            (Some(BlockRole::Reaction), Some(value)) => {
                self.error(&**value, "a reaction cannot return a value: write `return` without one");
                return;
            }
            (Some(BlockRole::Update { states }), Some(value)) => self.state_named_by(value, states),
            (_, Some(value)) => self.expr(value),
            (_, None) => self.constant(Value::NONE),
        };
        match self.take_back(a) {
            Some(Op::Compare { op, a, b, .. }) => self.op(Op::ReturnCompare { op, a, b }, span),
            Some(other) => {
                self.op(other, span);
                self.op(Op::Return { a }, span)
            }
            None => self.op(Op::Return { a }, span),
        };
    }

    /// Compiles `return "state"` to the number of the state; no name is looked up at run time.
    fn state_named_by(&mut self, value: &Expr, states: &[String]) -> Operand {
        match value {
            Expr::NoneLiteral(_) => self.constant(Value::NONE),
            Expr::StringLiteral(literal) => {
                let name = literal.value.to_str();
                match states.iter().position(|state| state == name) {
                    Some(state) => {
                        self.states.insert(state);
                        self.constant(Value::int(state as i64))
                    }
                    None => {
                        let mut diagnostic = Diagnostic::error(
                            self.block.span(value.range()),
                            format!("there is no state `{name}`"),
                        );
                        if let Some(near) = nearest(name, states.iter().map(String::as_str)) {
                            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                        }
                        self.report(diagnostic);
                        self.constant(Value::NONE)
                    }
                }
            }
            Expr::If(choice) => {
                let dst = self.register();
                let test = self.expr(&choice.test);
                let span = self.block.span(value.range());
                let otherwise = self.op(Op::JumpUnless { a: test, to: 0 }, span);
                let a = self.state_named_by(&choice.body, states);
                self.op(Op::Move { dst, a }, span);
                let end = self.op(Op::Jump { to: 0 }, span);
                self.patch_jump(otherwise);
                let a = self.state_named_by(&choice.orelse, states);
                self.op(Op::Move { dst, a }, span);
                self.patch_jump(end);
                Emitter::reg(dst)
            }
            other => {
                self.report(
                    Diagnostic::error(
                        self.block.span(other.range()),
                        "`return` in this block needs the target state as a string literal",
                    )
                    .label("not the name of a state")
                    .help("write `return \"name\"`, or `return` alone for the state given after the block"),
                );
                self.constant(Value::NONE)
            }
        }
    }

    /// Compiles one of several alternatives; returns the variables that are assigned at its end.
    fn branch(&mut self, branch: impl FnOnce(&mut Self)) -> BTreeSet<Variable> {
        let before = self.known.clone();
        branch(self);
        std::mem::replace(&mut self.known, before)
    }

    pub(super) fn if_statement(&mut self, stmt: &StmtIf) {
        let mut ends = Vec::new();
        let mut after: Option<BTreeSet<Variable>> = None;
        let mut exhaustive = false;
        // The first test is always evaluated: it contributes to the known variables of all clauses.
        let mut always = None;
        let clauses = std::iter::once((Some(&*stmt.test), &stmt.body))
            .chain(stmt.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), &clause.body)));
        for (test, body) in clauses {
            let span = body.first().map_or_else(|| self.block.span(stmt), |first| self.block.span(first));
            let skip = test.map(|test| {
                let mark = self.mark();
                let a = self.expr(test);
                self.reset(mark);
                self.op(Op::JumpUnless { a, to: 0 }, span)
            });
            always.get_or_insert_with(|| self.known.clone());
            exhaustive |= test.is_none();
            let known = self.branch(|emitter| emitter.statements(body));
            let leaves = matches!(body.last(), Some(Stmt::Return(_) | Stmt::Break(_) | Stmt::Continue(_)));
            if !leaves {
                after = Some(match after {
                    Some(after) => &after & &known,
                    None => known,
                });
                ends.push(self.op(Op::Jump { to: 0 }, span));
            }
            if let Some(skip) = skip {
                self.patch_jump(skip);
            }
        }
        ends.into_iter().for_each(|end| self.patch_jump(end));
        self.known = after.filter(|_| exhaustive).or(always).unwrap_or_default();
    }

    pub(super) fn while_statement(&mut self, stmt: &StmtWhile) {
        let span = self.block.span(stmt.range());
        if !stmt.orelse.is_empty() {
            self.error(stmt, "`else` after a loop is not part of the block language");
        }
        self.loops.push(Loop { head: self.next_address(), breaks: Vec::new() });
        let head = self.next_address();
        let mark = self.mark();
        let a = self.expr(&stmt.test);
        self.reset(mark);
        let exit = self.op(Op::JumpUnless { a, to: 0 }, span);
        self.branch(|emitter| emitter.statements(&stmt.body));
        self.op(Op::Loop { to: head }, span);
        self.patch_jump(exit);
        self.end_loop();
    }

    pub(super) fn for_statement(&mut self, stmt: &StmtFor) {
        if !stmt.orelse.is_empty() || stmt.is_async {
            self.error(stmt, "`else` after a loop and `async` are not part of the block language");
        }
        let (iter, ranged) = self.start_loop(&stmt.iter);
        let (head, item, exit) = self.next_item(iter, ranged, &stmt.target);
        self.loops.push(Loop { head, breaks: Vec::new() });
        self.branch(|emitter| {
            emitter.assign(&stmt.target, Emitter::reg(item));
            emitter.statements(&stmt.body);
        });
        let span = self.block.span(stmt.range());
        self.op(Op::Loop { to: head }, span);
        self.patch_jump(exit);
        self.end_loop();
    }

    /// Emits the start of a loop over `iterable`. Returns its registers and whether it is a loop over `range(…)`.
    pub(super) fn start_loop(&mut self, iterable: &Expr) -> (Reg, bool) {
        let span = self.block.span(iterable.range());
        let iter = self.registers(3);
        if let Some(args) = self.range_arguments(iterable) {
            let (zero, one) = (self.constant(Value::int(0)), self.constant(Value::int(1)));
            let offsets: &[u16] = match args.len() {
                1 => &[1],
                2 => &[0, 1],
                _ => &[0, 1, 2],
            };
            self.op(Op::Move { dst: iter, a: zero }, span);
            self.op(Op::Move { dst: iter + 2, a: one }, span);
            for (arg, offset) in args.iter().zip(offsets) {
                self.expr_into(arg, iter + offset);
            }
            return (iter, true);
        }
        let a = self.expr(iterable);
        self.op(Op::Iterate { iter, a }, span);
        (iter, false)
    }

    /// Emits the head of a loop. Returns its address, the register of the element and the exit jump.
    pub(super) fn next_item(&mut self, iter: Reg, ranged: bool, target: &Expr) -> (u16, Reg, usize) {
        let span = self.block.span(target.range());
        let item = self.register();
        let head = self.next_address();
        let exit = match ranged {
            true => self.op(Op::NextInRange { iter, item, end: 0 }, span),
            false => self.op(Op::Next { iter, item, end: 0 }, span),
        };
        (head, item, exit)
    }

    fn end_loop(&mut self) {
        let finished = self.loops.pop().unwrap_or_default();
        finished.breaks.into_iter().for_each(|at| self.patch_jump(at));
    }

    pub(super) fn try_statement(&mut self, stmt: &StmtTry) {
        let span = self.block.span(stmt.range());
        if stmt.is_star || !stmt.orelse.is_empty() || !stmt.finalbody.is_empty() {
            self.error(stmt, "`else`, `finally` and `except*` are not part of the block language");
        }
        let start = self.next_address();
        self.branch(|emitter| emitter.statements(&stmt.body));
        let end = self.next_address();
        let mut exits = vec![self.op(Op::Jump { to: 0 }, span)];
        if stmt.handlers.is_empty() {
            let target = self.next_address();
            self.code.handlers.push(Handler { range: start..end, kinds: FaultKind::CATCHABLE, target });
        }
        for ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
            if let Some(name) = &handler.name {
                self.error(name, "`as` is not part of the block language: faults have no value");
            }
            let kinds = match &handler.type_ {
                Some(kinds) => self.fault_kinds(kinds),
                None => FaultKind::CATCHABLE,
            };
            let target = self.next_address();
            self.code.handlers.push(Handler { range: start..end, kinds, target });
            self.branch(|emitter| emitter.statements(&handler.body));
            exits.push(self.op(Op::Jump { to: 0 }, span));
        }
        exits.into_iter().for_each(|exit| self.patch_jump(exit));
    }

    fn fault_kinds(&mut self, kinds: &Expr) -> u16 {
        match kinds {
            Expr::Tuple(tuple) => tuple.elts.iter().map(|kind| self.fault_kinds(kind)).fold(0, |a, b| a | b),
            Expr::Name(name) if name.id.as_str() == "Exception" => FaultKind::CATCHABLE,
            Expr::Name(name) => match FaultKind::NAMES.iter().find(|(_, known)| *known == name.id.as_str()) {
                Some((kind, _)) => kind.bit(),
                None => {
                    let names: Vec<&str> = FaultKind::NAMES.iter().map(|(_, name)| *name).collect();
                    let near = nearest(&name.id, names.iter().copied());
                    self.report(
                        Diagnostic::error(
                            self.block.span(name.range()),
                            format!("there is no error `{}`", name.id),
                        )
                        .help(match near {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => format!("the errors are {}", names.join(", ")),
                        }),
                    );
                    0
                }
            },
            other => {
                self.error(other, "expected the name of an error, such as KeyError");
                0
            }
        }
    }
}
