//! Compiling statements.

use super::Role;
use super::emit::{Emit, Loop, Variable};
use crate::diag::{Diagnostic, nearest};
use crate::fault::FaultKind;
use crate::program::{Handler, Mutation, Op, Operand, Reg};
use crate::value::Value;
use ruff_python_ast::{
    ExceptHandler, Expr, ExprSubscript, Operator, Stmt, StmtAugAssign, StmtFor, StmtIf, StmtReturn, StmtTry,
    StmtWhile,
};
use ruff_text_size::Ranged;
use std::collections::BTreeSet;

/// The names that some statements assign to.
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

impl Emit<'_> {
    pub(super) fn statements(&mut self, body: &[Stmt]) {
        for stmt in body {
            let mark = self.mark();
            self.statement(stmt);
            self.reset(mark);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        let span = self.block.span(stmt.range());
        if self.role == Some(Role::Functions) && !allowed_among_functions(stmt) {
            self.error(stmt, "a file of functions holds functions only");
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
            Stmt::AugAssign(assign) => self.augmented(assign),
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
                    let to = innermost.again;
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
            Stmt::FunctionDef(_) if matches!(self.role, Some(Role::Initialization | Role::Functions)) => {}
            Stmt::FunctionDef(def) => self.report(
                Diagnostic::error(self.block.span(&def.name), "functions cannot be defined here")
                    .help("put it into `initialization` or into a file of functions"),
            ),
            Stmt::Import(import) => self.import(&import.names, stmt),
            Stmt::ImportFrom(_) => self.import(&[], stmt),
            Stmt::Global(_) | Stmt::Nonlocal(_) => self.report(
                Diagnostic::error(span, "there are no global variables in functions here")
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

    /// Properties written for a debugger import it; its one function is known here as `debugger`.
    fn import(&mut self, names: &[ruff_python_ast::Alias], stmt: &Stmt) {
        let span = self.block.span(stmt.range());
        if let [name] = names
            && name.name.as_str() == "gdb"
        {
            self.report(
                Diagnostic::warning(span, "blocks import nothing: this line has no effect")
                    .help("`gdb.execute(…)` is understood as `debugger(…)` without it"),
            );
        } else {
            self.report(
                Diagnostic::error(span, "blocks import nothing")
                    .help("put functions of your own into a file and give it with `--functions`"),
            );
        }
    }

    // ---- assignment ----------------------------------------------------------------------------------

    /// The right side of an assignment: the one place, besides a statement of its own, for a method that
    /// changes its variable and gives something (`x = queue.pop()`).
    fn assigned_value(&mut self, value: &Expr) -> Operand {
        match self.mutating_call(value) {
            Some(result) => Emit::reg(result),
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
                    if value != Emit::reg(dst) {
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
            other => self.error(other, "this cannot be assigned to"),
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
                self.assign(target, Emit::reg(first + i as u16));
            }
        }
    }

    fn augmented(&mut self, assign: &StmtAugAssign) {
        let span = self.block.span(assign.range());
        let dst = self.register();
        match &*assign.target {
            Expr::Subscript(subscript) => {
                // The key is evaluated once.
                let first = self.registers(2);
                self.expr_into(&subscript.slice, first);
                let a = self.expr(&subscript.value);
                self.op(Op::Index { dst, a, b: Emit::reg(first) }, span);
                let b = self.expr(&assign.value);
                self.operator(assign.op, dst, Emit::reg(dst), b, span, &assign.target);
                self.op(Op::Move { dst: first + 1, a: Emit::reg(dst) }, span);
                self.change(&subscript.value, Mutation::SetItem, first, 2, &assign.target);
            }
            target => {
                let a = self.expr(target);
                let b = self.expr(&assign.value);
                self.operator(assign.op, dst, a, b, span, target);
                self.assign(target, Emit::reg(dst));
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

    /// Changes the variable, or the element of one, that `target` is, with the arguments at `first`; what
    /// the change gives is then in `first`. An element is taken out, changed and put back.
    pub(super) fn change(&mut self, target: &Expr, mutation: Mutation, first: Reg, n: u16, whole: &Expr) {
        let span = self.block.span(whole.range());
        match target {
            Expr::Name(name) => {
                let name_span = self.block.span(name.range());
                self.read(&name.id, name_span);
                if let Some(variable) = self.writable(&name.id, name_span) {
                    let place = self.operand(variable);
                    self.op(Op::Mutate { mutation, place, first, n }, span);
                }
            }
            Expr::Subscript(ExprSubscript { value, slice, .. }) => {
                let element = self.register();
                let outer = self.registers(2);
                self.expr_into(slice, outer);
                let a = self.expr(value);
                self.op(Op::Index { dst: element, a, b: Emit::reg(outer) }, span);
                self.op(Op::Mutate { mutation, place: Emit::reg(element), first, n }, span);
                self.op(Op::Move { dst: outer + 1, a: Emit::reg(element) }, span);
                self.change(value, Mutation::SetItem, outer, 2, whole);
            }
            other => self.report(
                Diagnostic::error(self.block.span(other.range()), "only a variable can be changed")
                    .help("assign the value to a variable first"),
            ),
        }
    }

    // ---- control -------------------------------------------------------------------------------------

    fn return_statement(&mut self, stmt: &StmtReturn) {
        let span = self.block.span(stmt.range());
        let a = match (self.role, &stmt.value) {
            (Some(Role::Initialization), _) => {
                self.error(stmt, "`initialization` returns nothing");
                return;
            }
            (Some(Role::Update { states }), Some(value)) => self.state_named_by(value, states),
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

    /// `return "state"`: the state's number, so that nothing is looked up while events flow.
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
                self.land(otherwise);
                let a = self.state_named_by(&choice.orelse, states);
                self.op(Op::Move { dst, a }, span);
                self.land(end);
                Emit::reg(dst)
            }
            other => {
                self.report(
                    Diagnostic::error(
                        self.block.span(other.range()),
                        "this block returns the state to go to, written in place",
                    )
                    .label("not the name of a state")
                    .help("write `return \"name\"`, or `return` alone for the state given after the block"),
                );
                self.constant(Value::NONE)
            }
        }
    }

    /// Runs `branch` as one of several that may be taken, and gives what is known at its end.
    fn branch(&mut self, branch: impl FnOnce(&mut Self)) -> BTreeSet<Variable> {
        let before = self.known.clone();
        branch(self);
        std::mem::replace(&mut self.known, before)
    }

    fn if_statement(&mut self, stmt: &StmtIf) {
        let mut ends = Vec::new();
        let mut after: Option<BTreeSet<Variable>> = None;
        let mut exhaustive = false;
        // What is known whichever clause is taken: the first test is always evaluated.
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
            let known = self.branch(|emit| emit.statements(body));
            let leaves = matches!(body.last(), Some(Stmt::Return(_) | Stmt::Break(_) | Stmt::Continue(_)));
            if !leaves {
                after = Some(match after {
                    Some(after) => &after & &known,
                    None => known,
                });
                ends.push(self.op(Op::Jump { to: 0 }, span));
            }
            if let Some(skip) = skip {
                self.land(skip);
            }
        }
        ends.into_iter().for_each(|end| self.land(end));
        self.known = after.filter(|_| exhaustive).or(always).unwrap_or_default();
    }

    fn while_statement(&mut self, stmt: &StmtWhile) {
        let span = self.block.span(stmt.range());
        if !stmt.orelse.is_empty() {
            self.error(stmt, "`else` after a loop is not part of the block language");
        }
        self.loops.push(Loop { again: self.here(), breaks: Vec::new() });
        let again = self.here();
        let mark = self.mark();
        let a = self.expr(&stmt.test);
        self.reset(mark);
        let leave = self.op(Op::JumpUnless { a, to: 0 }, span);
        self.branch(|emit| emit.statements(&stmt.body));
        self.op(Op::Loop { to: again }, span);
        self.land(leave);
        self.end_loop();
    }

    fn for_statement(&mut self, stmt: &StmtFor) {
        if !stmt.orelse.is_empty() || stmt.is_async {
            self.error(stmt, "`else` after a loop and `async` are not part of the block language");
        }
        let (iter, ranged) = self.start_loop(&stmt.iter);
        let (again, item, leave) = self.next_item(iter, ranged, &stmt.target);
        self.loops.push(Loop { again, breaks: Vec::new() });
        self.branch(|emit| {
            emit.assign(&stmt.target, Emit::reg(item));
            emit.statements(&stmt.body);
        });
        let span = self.block.span(stmt.range());
        self.op(Op::Loop { to: again }, span);
        self.land(leave);
        self.end_loop();
    }

    /// Prepares a loop over `over`; `true` if it counts through a range rather than go through an object.
    pub(super) fn start_loop(&mut self, over: &Expr) -> (Reg, bool) {
        let span = self.block.span(over.range());
        let iter = self.registers(3);
        if let Some(args) = self.range_arguments(over) {
            let (zero, one) = (self.constant(Value::int(0)), self.constant(Value::int(1)));
            let places: &[u16] = match args.len() {
                1 => &[1],
                2 => &[0, 1],
                _ => &[0, 1, 2],
            };
            self.op(Op::Move { dst: iter, a: zero }, span);
            self.op(Op::Move { dst: iter + 2, a: one }, span);
            for (arg, place) in args.iter().zip(places) {
                self.expr_into(arg, iter + place);
            }
            return (iter, true);
        }
        let a = self.expr(over);
        self.op(Op::Iterate { iter, a }, span);
        (iter, false)
    }

    /// The top of a loop: where it starts again, the register of the element, and the jump that leaves it.
    pub(super) fn next_item(&mut self, iter: Reg, ranged: bool, target: &Expr) -> (u16, Reg, usize) {
        let span = self.block.span(target.range());
        let item = self.register();
        let again = self.here();
        let leave = match ranged {
            true => self.op(Op::NextInRange { iter, item, end: 0 }, span),
            false => self.op(Op::Next { iter, item, end: 0 }, span),
        };
        (again, item, leave)
    }

    fn end_loop(&mut self) {
        let finished = self.loops.pop().unwrap_or_default();
        finished.breaks.into_iter().for_each(|at| self.land(at));
    }

    fn try_statement(&mut self, stmt: &StmtTry) {
        let span = self.block.span(stmt.range());
        if stmt.is_star || !stmt.orelse.is_empty() || !stmt.finalbody.is_empty() {
            self.error(stmt, "`else`, `finally` and `except*` are not part of the block language");
        }
        let start = self.here();
        self.branch(|emit| emit.statements(&stmt.body));
        let end = self.here();
        let mut exits = vec![self.op(Op::Jump { to: 0 }, span)];
        if stmt.handlers.is_empty() {
            let target = self.here();
            self.code.handlers.push(Handler { range: start..end, kinds: FaultKind::CATCHABLE, target });
        }
        for ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
            if let Some(name) = &handler.name {
                self.error(name, "the error itself has no value: leave out `as`");
            }
            let kinds = match &handler.type_ {
                Some(kinds) => self.fault_kinds(kinds),
                None => FaultKind::CATCHABLE,
            };
            let target = self.here();
            self.code.handlers.push(Handler { range: start..end, kinds, target });
            self.branch(|emit| emit.statements(&handler.body));
            exits.push(self.op(Op::Jump { to: 0 }, span));
        }
        exits.into_iter().for_each(|exit| self.land(exit));
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
                self.error(other, "the name of an error is needed here, such as KeyError");
                0
            }
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
