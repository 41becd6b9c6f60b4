//! Name analysis: which names a block assigns, and which it may read before it assigns them.
//!
//! A name that one block may read first and another block assigns is a shared variable, part of the
//! environment. All other names are local to their block.

use super::Block;
use crate::diag::Diagnostic;
use ruff_python_ast::{Comprehension, ExceptHandler, Expr, InterpolatedStringElement, Stmt};
use ruff_text_size::Ranged;
use std::collections::BTreeSet;

/// Maximum nesting of expressions and statements.
pub(super) const MAX_NESTING: usize = 100;

pub(super) fn analyse(block: &mut Block, diagnostics: &mut Vec<Diagnostic>) {
    let body = std::mem::take(&mut block.module.body);
    let mut analysis = NameAnalysis { block, diagnostics, comprehension_variables: Vec::new(), depth: 0 };
    analysis.statements(&body, &mut BTreeSet::new());
    block.module.body = body;
}

/// The names that are assigned on every path so far.
type AssignedNames = BTreeSet<String>;

struct NameAnalysis<'a> {
    block: &'a mut Block,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// Variables of comprehensions, which shadow others of the same name.
    comprehension_variables: Vec<String>,
    depth: usize,
}

impl NameAnalysis<'_> {
    /// Visits a nested node, unless it is nested too deeply.
    fn nested(&mut self, node: &impl Ranged, inside: impl FnOnce(&mut Self)) {
        if self.depth == MAX_NESTING {
            let span = self.block.span(node.range());
            self.diagnostics.push(Diagnostic::error(span, "this is nested too deeply"));
            // Reported once: deeper nodes are not visited.
            return;
        }
        self.depth += 1;
        inside(self);
        self.depth -= 1;
    }

    fn statements(&mut self, body: &[Stmt], assigned: &mut AssignedNames) {
        for stmt in body {
            self.nested(stmt, |s| s.statement(stmt, assigned));
        }
    }

    fn statement(&mut self, stmt: &Stmt, assigned: &mut AssignedNames) {
        match stmt {
            Stmt::Assign(assign) => {
                self.read(&assign.value, assigned);
                for target in &assign.targets {
                    self.assign(target, assigned);
                }
            }
            Stmt::AugAssign(assign) => {
                self.read(&assign.value, assigned);
                self.read(&assign.target, assigned);
                self.assign(&assign.target, assigned);
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.read(value, assigned);
                    self.assign(&assign.target, assigned);
                }
            }
            Stmt::Delete(delete) => delete.targets.iter().for_each(|target| self.read(target, assigned)),
            Stmt::Return(stmt) => {
                self.block.has_return = true;
                if let Some(value) = &stmt.value {
                    self.read(value, assigned);
                }
            }
            Stmt::Expr(stmt) => self.read(&stmt.value, assigned),
            Stmt::Assert(stmt) => {
                self.read(&stmt.test, assigned);
                stmt.msg.iter().for_each(|msg| self.read(msg, assigned));
            }
            Stmt::If(stmt) => {
                self.read(&stmt.test, assigned);
                let mut after = assigned.clone();
                self.statements(&stmt.body, &mut after);
                let mut exhaustive = false;
                for clause in &stmt.elif_else_clauses {
                    clause.test.iter().for_each(|test| self.read(test, assigned));
                    let mut branch = assigned.clone();
                    self.statements(&clause.body, &mut branch);
                    after.retain(|name| branch.contains(name));
                    exhaustive |= clause.test.is_none();
                }
                if exhaustive {
                    *assigned = after;
                }
            }
            Stmt::While(stmt) => {
                self.read(&stmt.test, assigned);
                self.statements(&stmt.body, &mut assigned.clone());
            }
            Stmt::For(stmt) => {
                self.read(&stmt.iter, assigned);
                let mut body = assigned.clone();
                self.assign(&stmt.target, &mut body);
                self.statements(&stmt.body, &mut body);
            }
            Stmt::Try(stmt) => {
                self.statements(&stmt.body, &mut assigned.clone());
                for ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
                    self.statements(&handler.body, &mut assigned.clone());
                }
            }
            // Names in a function are local to it: visit it for the nesting limit only.
            Stmt::FunctionDef(def) => {
                let names = (self.block.assigns.clone(), self.block.reads.clone(), self.block.has_return);
                self.statements(&def.body, &mut AssignedNames::new());
                (self.block.assigns, self.block.reads, self.block.has_return) = names;
            }
            Stmt::Global(global) => self.block.globals.extend(global.names.iter().map(ToString::to_string)),
            // The compiler rejects all other statements.
            _ => {}
        }
    }

    fn assign(&mut self, target: &Expr, assigned: &mut AssignedNames) {
        match target {
            Expr::Name(name) => {
                assigned.insert(name.id.to_string());
                if !self.block.assigns.iter().any(|assigned| assigned == name.id.as_str()) {
                    self.block.assigns.push(name.id.to_string());
                }
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.assign(target, assigned)),
            Expr::List(list) => list.elts.iter().for_each(|target| self.assign(target, assigned)),
            // An assignment to an element reads the variable.
            other => self.read(other, assigned),
        }
    }

    fn read(&mut self, expr: &Expr, assigned: &AssignedNames) {
        self.nested(expr, |s| s.read_parts(expr, assigned));
    }

    fn read_parts(&mut self, expr: &Expr, assigned: &AssignedNames) {
        match expr {
            Expr::Name(name) => {
                let id = name.id.as_str();
                if !assigned.contains(id)
                    && !self.comprehension_variables.iter().any(|variable| variable == id)
                {
                    let span = self.block.span(name.range());
                    self.block.reads.entry(id.into()).or_insert(span);
                }
            }
            Expr::BoolOp(e) => e.values.iter().for_each(|e| self.read(e, assigned)),
            Expr::BinOp(e) => [&e.left, &e.right].into_iter().for_each(|e| self.read(e, assigned)),
            Expr::UnaryOp(e) => self.read(&e.operand, assigned),
            Expr::If(e) => [&e.test, &e.body, &e.orelse].into_iter().for_each(|e| self.read(e, assigned)),
            Expr::Dict(e) => {
                for item in &e.items {
                    item.key.iter().for_each(|key| self.read(key, assigned));
                    self.read(&item.value, assigned);
                }
            }
            Expr::Set(e) => e.elts.iter().for_each(|e| self.read(e, assigned)),
            Expr::List(e) => e.elts.iter().for_each(|e| self.read(e, assigned)),
            Expr::Tuple(e) => e.elts.iter().for_each(|e| self.read(e, assigned)),
            Expr::Compare(e) => {
                self.read(&e.left, assigned);
                e.comparators.iter().for_each(|e| self.read(e, assigned));
            }
            Expr::Call(e) => {
                // The name of a function is not a variable.
                if !matches!(&*e.func, Expr::Name(_)) {
                    self.read(&e.func, assigned);
                }
                e.arguments.args.iter().for_each(|e| self.read(e, assigned));
                e.arguments.keywords.iter().for_each(|k| self.read(&k.value, assigned));
            }
            // `gdb.execute(…)` is a function of the host; `gdb` is not a variable.
            Expr::Attribute(e) if !super::call::is_gdb(&e.value) => self.read(&e.value, assigned),
            Expr::Subscript(e) => [&e.value, &e.slice].into_iter().for_each(|e| self.read(e, assigned)),
            Expr::Slice(e) => {
                [&e.lower, &e.upper, &e.step].into_iter().flatten().for_each(|e| self.read(e, assigned));
            }
            Expr::FString(e) => {
                for element in e.value.elements() {
                    if let InterpolatedStringElement::Interpolation(part) = element {
                        self.read(&part.expression, assigned);
                    }
                }
            }
            Expr::ListComp(e) => self.comprehension(&e.generators, &[&e.elt], assigned),
            Expr::SetComp(e) => self.comprehension(&e.generators, &[&e.elt], assigned),
            Expr::Generator(e) => self.comprehension(&e.generators, &[&e.elt], assigned),
            Expr::DictComp(e) => {
                let parts: Vec<&Expr> = e.key.iter().map(|key| &**key).chain([&*e.value]).collect();
                self.comprehension(&e.generators, &parts, assigned);
            }
            _ => {}
        }
    }

    fn comprehension(&mut self, generators: &[Comprehension], parts: &[&Expr], assigned: &AssignedNames) {
        let outer = self.comprehension_variables.len();
        for generator in generators {
            self.read(&generator.iter, assigned);
            self.add_comprehension_variable(&generator.target);
            generator.ifs.iter().for_each(|test| self.read(test, assigned));
        }
        parts.iter().for_each(|part| self.read(part, assigned));
        self.comprehension_variables.truncate(outer);
    }

    fn add_comprehension_variable(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.comprehension_variables.push(name.id.to_string()),
            Expr::Tuple(tuple) => {
                tuple.elts.iter().for_each(|target| self.add_comprehension_variable(target))
            }
            _ => {}
        }
    }
}
