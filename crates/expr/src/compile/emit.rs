//! State of the compilation of one block: registers, variables in scope, and emitted code.

use super::{Block, BlockRole, Compiler};
use crate::diag::{Diagnostic, Span, nearest};
use crate::program::{Code, JumpTarget, Op, Operand, Reg, Space};
use crate::value::Value;
use ruff_python_ast::StmtFunctionDef;
use ruff_text_size::Ranged;
use std::collections::BTreeSet;

/// A variable in scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Variable {
    Local(Reg),
    Env(u16),
    Param(usize),
}

/// Addresses of a loop that is being compiled.
#[derive(Default)]
pub(super) struct Loop {
    pub(super) head: JumpTarget,
    pub(super) breaks: Vec<usize>,
}

pub(super) struct Emitter<'c> {
    pub(super) compiler: &'c mut Compiler,
    pub(super) block: &'c Block,
    pub(super) role: Option<BlockRole<'c>>,
    pub(super) code: Code,
    /// Variables in scope; later ones shadow earlier ones.
    pub(super) scope: Vec<(String, Variable)>,
    /// Variables that are assigned on every path to the current instruction.
    pub(super) known: BTreeSet<Variable>,
    pub(super) loops: Vec<Loop>,
    pub(super) params: BTreeSet<usize>,
    /// The states that the block may return.
    pub(super) states: BTreeSet<usize>,
    next: Reg,
    /// The last jump target. Instructions before and after it must not be merged.
    last_target: JumpTarget,
}

impl<'c> Emitter<'c> {
    fn new(compiler: &'c mut Compiler, block: &'c Block, role: Option<BlockRole<'c>>) -> Emitter<'c> {
        Emitter {
            compiler,
            block,
            role,
            code: Code::default(),
            scope: Vec::new(),
            known: BTreeSet::new(),
            loops: Vec::new(),
            params: BTreeSet::new(),
            states: BTreeSet::new(),
            next: 0,
            last_target: 0,
        }
    }

    /// Compiles a block. Also returns the event parameters that it reads and the states that it may return.
    pub(super) fn block(
        compiler: &'c mut Compiler,
        block: &'c Block,
        params: &'c [(String, usize)],
        role: BlockRole<'c>,
    ) -> (Code, BTreeSet<usize>, BTreeSet<usize>) {
        let mut emitter = Emitter::new(compiler, block, Some(role));
        for name in &block.assigns {
            if !emitter.compiler.env.contains(name) && !params.iter().any(|(param, _)| param == name) {
                let reg = emitter.register();
                emitter.scope.push((name.clone(), Variable::Local(reg)));
            }
        }
        for (slot, name) in emitter.compiler.env.iter().enumerate() {
            emitter.scope.push((name.clone(), Variable::Env(slot as u16)));
            // The initialization runs when no variable has a value.
            if slot < emitter.compiler.initialized && role != BlockRole::Initialization {
                emitter.known.insert(Variable::Env(slot as u16));
            }
        }
        for (name, at) in params {
            emitter.scope.push((name.clone(), Variable::Param(*at)));
            emitter.known.insert(Variable::Param(*at));
        }
        emitter.statements(&block.module.body);
        emitter.finish()
    }

    /// Compiles a function. Its scope is its parameters and variables, and the shared scope if there is one.
    pub(super) fn function(compiler: &'c mut Compiler, block: &'c Block, def: &'c StmtFunctionDef) -> Code {
        let mut emitter = Emitter::new(compiler, block, None);
        emitter.shared_scope();
        let parameters = &def.parameters;
        if parameters.vararg.is_some() || parameters.kwarg.is_some() || !parameters.kwonlyargs.is_empty() {
            emitter.error(&**parameters, "functions of the block language have a fixed number of parameters");
        }
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                emitter.error(&**default, "default values are not part of the block language");
            }
            let variable = Variable::Local(emitter.register());
            emitter.scope.push((parameter.parameter.name.to_string(), variable));
            emitter.known.insert(variable);
        }
        emitter.code.arguments = emitter.next;
        let mut assigns = BTreeSet::new();
        super::statement::assigned(&def.body, &mut assigns);
        let globals = super::statement::declared_global(&def.body);
        for name in assigns {
            // A local variable shadows one of the environment, unless it is declared `global`.
            let is_own = matches!(emitter.find(&name), Some(Variable::Local(_)));
            let is_shared = emitter.compiler.shared.is_some() && globals.contains(&name);
            if !is_own && !is_shared {
                let reg = emitter.register();
                emitter.scope.push((name, Variable::Local(reg)));
            }
        }
        emitter.statements(&def.body);
        emitter.finish().0
    }

    /// Adds the shared scope: the environment and the parameters that functions may read.
    fn shared_scope(&mut self) {
        let Some(params) = self.compiler.shared.clone() else { return };
        let env = self.compiler.env.iter().enumerate();
        self.scope.extend(env.map(|(slot, name)| (name.clone(), Variable::Env(slot as u16))));
        for (name, at) in params {
            self.scope.push((name, Variable::Param(at)));
            self.known.insert(Variable::Param(at));
        }
    }

    fn finish(mut self) -> (Code, BTreeSet<usize>, BTreeSet<usize>) {
        let none = self.constant(Value::NONE);
        self.op(Op::Return { a: none }, Span::new(self.block.source, 0, 0));
        if self.code.ops.len() > usize::from(JumpTarget::MAX) {
            self.report(Diagnostic::error(Span::new(self.block.source, 0, 0), "this block is too long"));
        }
        self.code.finish(&self.compiler.program.consts);
        (self.code, self.params, self.states)
    }

    // ---- code ----------------------------------------------------------------------------------------

    pub(super) fn op(&mut self, op: Op, span: Span) -> usize {
        self.code.ops.push(op);
        self.code.spans.push(span);
        self.code.ops.len() - 1
    }

    /// The index of the next instruction.
    pub(super) fn next_address(&self) -> JumpTarget {
        self.code.ops.len().min(usize::from(JumpTarget::MAX)) as JumpTarget
    }

    /// Sets the target of the jump at `at` to the next instruction.
    pub(super) fn patch_jump(&mut self, at: usize) {
        let target = self.next_address();
        self.last_target = target;
        match &mut self.code.ops[at] {
            Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpUnless { to, .. } => *to = target,
            Op::SkipUnlessPrinting { to } => *to = target,
            Op::Next { end, .. } | Op::NextInRange { end, .. } => *end = target,
            _ => {}
        }
    }

    /// Removes the last instruction if it computes `value` into a temporary register.
    ///
    /// The caller replaces it by a combined instruction.
    pub(super) fn take_back(&mut self, value: Operand) -> Option<Op> {
        let last = *self.code.ops.last()?;
        let (Op::Add { dst, .. } | Op::Sub { dst, .. } | Op::Compare { dst, .. }) = last else { return None };
        let is_variable = self.scope.iter().any(|(_, variable)| *variable == Variable::Local(dst));
        if Emitter::reg(dst) != value || is_variable || self.last_target == self.next_address() {
            return None;
        }
        self.code.spans.pop();
        self.code.ops.pop()
    }

    /// Prevents merging of the last instruction, because its result is read more than once.
    pub(super) fn keep_last(&mut self) {
        self.last_target = self.next_address();
    }

    // ---- registers and constants ---------------------------------------------------------------------

    pub(super) fn register(&mut self) -> Reg {
        let reg = self.next;
        if usize::from(reg) + 1 >= Operand::LIMIT {
            self.report(Diagnostic::error(Span::new(self.block.source, 0, 0), "this block is too large"));
            return reg;
        }
        self.next += 1;
        self.code.registers = self.code.registers.max(self.next);
        reg
    }

    /// Allocates `n` consecutive registers.
    pub(super) fn registers(&mut self, n: usize) -> Reg {
        let first = self.next;
        for _ in 0..n {
            self.register();
        }
        first
    }

    pub(super) fn mark(&self) -> Reg {
        self.next
    }

    /// Frees all registers allocated since `mark`.
    pub(super) fn reset(&mut self, mark: Reg) {
        self.next = mark;
    }

    pub(super) fn reg(reg: Reg) -> Operand {
        // `register` allocates below the limit.
        Operand::new(Space::Register, usize::from(reg)).unwrap_or_else(|| Emitter::reg(0))
    }

    pub(super) fn constant(&mut self, value: Value) -> Operand {
        match self.compiler.constant(value) {
            Some(operand) => operand,
            None => {
                let span = Span::new(self.block.source, 0, 0);
                self.report(Diagnostic::error(span, "this property has too many constants"));
                Emitter::reg(0)
            }
        }
    }

    // ---- variables -----------------------------------------------------------------------------------

    pub(super) fn find(&self, name: &str) -> Option<Variable> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, variable)| *variable)
    }

    pub(super) fn operand(&mut self, variable: Variable) -> Operand {
        let (space, at) = match variable {
            Variable::Local(reg) => return Emitter::reg(reg),
            Variable::Env(slot) => (Space::Env, usize::from(slot)),
            Variable::Param(at) => {
                self.params.insert(at);
                (Space::Param, at)
            }
        };
        Operand::new(space, at).unwrap_or_else(|| {
            let span = Span::new(self.block.source, 0, 0);
            let message = format!("this property has more than {} variables or parameters", Operand::LIMIT);
            self.report(Diagnostic::error(span, message));
            Emitter::reg(0)
        })
    }

    /// The operand of the variable `name`; emits a check unless it is known to be assigned.
    pub(super) fn read(&mut self, name: &str, span: Span) -> Operand {
        let Some(variable) = self.find(name) else {
            self.report_unknown_variable(name, span);
            return self.constant(Value::NONE);
        };
        let a = self.operand(variable);
        if !self.known.contains(&variable) {
            let name = self.compiler.name(name);
            self.op(Op::Check { a, name }, span);
            self.known.insert(variable);
        }
        a
    }

    /// The variable that an assignment to `name` writes. Reports an error if the assignment is not allowed.
    pub(super) fn writable(&mut self, name: &str, span: Span) -> Option<Variable> {
        match self.find(name) {
            Some(Variable::Param(_)) => {
                let reason = match self.compiler.shared {
                    Some(_) => "is set by the session",
                    None => "is a parameter of the event",
                };
                self.report(
                    Diagnostic::error(span, format!("`{name}` {reason}"))
                        .label("cannot be assigned to")
                        .help("give the variable another name"),
                );
                None
            }
            Some(Variable::Env(_)) if self.role == Some(BlockRole::Guard) && self.block.has_return => {
                self.report(
                    Diagnostic::error(span, "a guard that returns a value cannot change the environment")
                        .label(format!("changes `{name}`"))
                        .help("move the assignment to the block after `success` or `failure`"),
                );
                None
            }
            Some(variable) => Some(variable),
            None => {
                self.report_unknown_variable(name, span);
                None
            }
        }
    }

    fn report_unknown_variable(&mut self, name: &str, span: Span) {
        let names: Vec<&str> = self.scope.iter().map(|(name, _)| name.as_str()).collect();
        let functions = self.compiler.program.functions.iter().map(|(name, _)| name.as_str());
        let mut diagnostic = Diagnostic::error(span, format!("there is no variable `{name}`"));
        diagnostic = match (nearest(name, names.iter().copied()), self.role) {
            (Some(near), _) => diagnostic.help(format!("did you mean `{near}`?")),
            (None, _) if self.compiler.shared.is_some() => {
                diagnostic.help("no block assigns it: assign it in `initialization`")
            }
            (None, None) => diagnostic.help(
                "a function can only use its own parameters and variables: pass the value as an argument",
            ),
            (None, _) if functions.into_iter().any(|known| known == name) => {
                diagnostic.help(format!("`{name}` is a function: call it with `{name}()`"))
            }
            (None, _) => {
                diagnostic.help("assign it in `initialization`, or declare it as a parameter of the event")
            }
        };
        self.report(diagnostic);
    }

    // ---- diagnostics ---------------------------------------------------------------------------

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.compiler.diagnostics.push(diagnostic);
    }

    pub(super) fn error(&mut self, node: impl Ranged, message: &str) {
        let span = self.block.span(node);
        self.report(Diagnostic::error(span, message));
    }
}
