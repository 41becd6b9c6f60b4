//! Interpreter of compiled blocks.
//!
//! Hand-written because embedded languages (`starlark`, `rhai`) need `std` and cannot be saved and restored as bytes.

use crate::compare::ValueReader;
use crate::fast_block::run_fast;
use crate::fault::{Budget, EvalResult, Fault, FaultKind};
use crate::heap::{Heap, ObjectKind};
use crate::operators::{EvalContext, overflow};
use crate::program::{Code, CodeId, CollectionKind, Mutation, Op, Operand, Program, Reg, Space};
use crate::text::TextArenas;
use crate::value::{Tag, Value};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Maximum call depth.
const MAX_CALLS: usize = 64;

/// Services that the caller of a block provides: output and functions.
pub trait Host {
    /// Whether printed lines are used. If not, a `print` whose arguments cannot fault is skipped.
    fn wants_output(&self) -> bool;

    /// Receives a line that the block prints.
    fn print(&mut self, line: &str);

    /// Calls a function of the host, by its index in the list passed to the compiler.
    fn call(&mut self, function: usize, args: &[Value], view: ValueReader<'_>) -> EvalResult<Value>;

    /// The text that long strings returned by [`call`](Host::call) refer to.
    fn text(&self) -> &str {
        ""
    }
}

/// A host without output and functions.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopHost;

impl Host for NoopHost {
    fn wants_output(&self) -> bool {
        false
    }

    fn print(&mut self, _: &str) {}

    fn call(&mut self, _: usize, _: &[Value], _: ValueReader<'_>) -> EvalResult<Value> {
        Ok(Value::NONE)
    }
}

/// Inputs of one run of a block.
pub struct Frame<'a> {
    /// The environment.
    pub env: &'a mut [Value],
    /// The parameters of the event.
    pub params: &'a [Value],
    /// The text that long string parameters refer to.
    pub text: &'a str,
    /// The heap of the environment.
    pub heap: &'a mut Heap,
}

/// Reusable registers and scratch space. No state is kept between runs.
#[derive(Clone, Debug)]
pub struct Machine {
    regs: Vec<Value>,
    line: String,
    work: u64,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::with_budget(Budget::DEFAULT)
    }
}

impl Machine {
    /// A machine that gives each block a budget of `work` units.
    pub fn with_budget(work: u64) -> Machine {
        Machine { regs: Vec::new(), line: String::new(), work }
    }

    /// Runs a block and returns its value; `None` if it ends without `return`.
    ///
    /// The value may be an uncounted object of the frame's heap: use it before the next [`Heap::sweep`].
    #[inline(always)]
    pub fn run<H: Host>(
        &mut self,
        program: &Program,
        code: CodeId,
        frame: Frame<'_>,
        host: &mut H,
    ) -> EvalResult<Value> {
        let code = program.code(code);
        if let Some(value) = run_fast(code, frame.env, frame.params, host) {
            return Ok(value);
        }
        self.run_code(program, code, &[], frame, host)
    }

    /// Calls a function of the program. The arguments must be inline values.
    pub fn call<H: Host>(
        &mut self,
        program: &Program,
        function: CodeId,
        args: &[Value],
        frame: Frame<'_>,
        host: &mut H,
    ) -> EvalResult<Value> {
        let code = program.code(function);
        if args.len() != usize::from(code.arguments) {
            let message = format!("the function takes {} arguments, got {}", code.arguments, args.len());
            return Err(Fault::new(FaultKind::Type, message));
        }
        self.run_code(program, code, args, frame, host)
    }

    #[inline(never)]
    fn run_code<H: Host>(
        &mut self,
        program: &Program,
        code: &Code,
        args: &[Value],
        frame: Frame<'_>,
        host: &mut H,
    ) -> EvalResult<Value> {
        let registers = usize::from(code.registers);
        if self.regs.len() < registers {
            self.regs.resize(registers, Value::UNSET);
        }
        if code.clears {
            self.regs[..registers].fill(Value::UNSET);
        }
        self.regs[..args.len()].copy_from_slice(args);
        let mut budget = Budget::new(self.work);
        let mut run = Execution {
            regs: &mut self.regs,
            program,
            env: frame.env,
            params: frame.params,
            context: EvalContext {
                heap: frame.heap,
                texts: TextArenas { event: frame.text, pool: &program.pool },
                budget: &mut budget,
                scratch: &mut self.line,
            },
            host,
            calls: 0,
            top: registers,
        };
        run.code(code, 0)
    }
}

/// The `n` registers from `first` on, in the frame at `base`.
#[inline]
fn registers(regs: &[Value], base: usize, first: Reg, n: u16) -> &[Value] {
    let first = base + usize::from(first);
    &regs[first..first + usize::from(n)]
}

struct Execution<'a, H> {
    regs: &'a mut Vec<Value>,
    program: &'a Program,
    env: &'a mut [Value],
    params: &'a [Value],
    context: EvalContext<'a>,
    host: &'a mut H,
    calls: usize,
    top: usize,
}

impl<H: Host> Execution<'_, H> {
    #[inline(always)]
    fn get(&self, base: usize, operand: Operand) -> Value {
        let index = operand.index();
        match operand.space() {
            Space::Register => self.regs[base + index],
            Space::Env => self.env[index],
            Space::Param => self.params.get(index).copied().unwrap_or(Value::UNSET),
            Space::Const => self.program.consts[index],
        }
    }

    #[inline(always)]
    fn set(&mut self, base: usize, reg: Reg, value: Value) {
        self.regs[base + usize::from(reg)] = value;
    }

    /// Runs a block or function whose registers start at `base`, with its handlers.
    #[inline]
    fn code(&mut self, code: &Code, base: usize) -> EvalResult<Value> {
        let mut start = 0;
        loop {
            let (mut fault, pc) = match self.ops(code, base, start) {
                Ok(value) => return Ok(value),
                Err(at) => at,
            };
            if fault.span.is_none() {
                fault.span = code.spans.get(pc).copied();
            }
            let handler = code.handlers.iter().find(|handler| {
                handler.range.contains(&(pc as u16)) && handler.kinds & fault.kind.bit() != 0
            });
            match handler {
                Some(handler) => start = usize::from(handler.target),
                None => return Err(fault),
            }
        }
    }

    /// Runs from `pc` on. A fault is returned with the index of its instruction.
    fn ops(&mut self, code: &Code, base: usize, mut pc: usize) -> Result<Value, (Box<Fault>, usize)> {
        let ops = &code.ops[..];
        loop {
            // Every code ends with a `Return`.
            let Some(op) = ops.get(pc) else { return Ok(Value::NONE) };
            let mut next = pc + 1;
            let at = |fault| (fault, pc);
            match *op {
                Op::Move { dst, a } => self.set(base, dst, self.get(base, a)),
                Op::Store { slot, a } => {
                    let value = self.context.texts.own(self.context.heap, self.get(base, a)).map_err(at)?;
                    self.store(usize::from(slot), value);
                }
                Op::Check { a, name } => {
                    if self.get(base, a).is_unset() {
                        return Err(at(self.unset(name)));
                    }
                }
                Op::Add { dst, a, b } => {
                    let (a, b) = (self.get(base, a), self.get(base, b));
                    let sum = match (a.as_int(), b.as_int()) {
                        (Some(x), Some(y)) => {
                            x.checked_add(y).map(Value::int).ok_or_else(overflow).map_err(at)?
                        }
                        _ => self.context.add(a, b).map_err(at)?,
                    };
                    self.set(base, dst, sum);
                }
                Op::Sub { dst, a, b } => {
                    let (a, b) = (self.get(base, a), self.get(base, b));
                    let difference = match (a.as_int(), b.as_int()) {
                        (Some(x), Some(y)) => {
                            x.checked_sub(y).map(Value::int).ok_or_else(overflow).map_err(at)?
                        }
                        _ => self.context.subtract(a, b).map_err(at)?,
                    };
                    self.set(base, dst, difference);
                }
                Op::Binary { op, dst, a, b } => {
                    let value = self.context.binary(op, self.get(base, a), self.get(base, b)).map_err(at)?;
                    self.set(base, dst, value);
                }
                Op::Compare { op, dst, a, b } => {
                    let holds = self.context.compare(op, self.get(base, a), self.get(base, b)).map_err(at)?;
                    self.set(base, dst, Value::bool(holds));
                }
                Op::Unary { op, dst, a } => {
                    let value = self.context.unary(op, self.get(base, a)).map_err(at)?;
                    self.set(base, dst, value);
                }
                Op::Jump { to } => next = usize::from(to),
                Op::Loop { to } => {
                    self.context.budget.spend(1).map_err(at)?;
                    next = usize::from(to);
                }
                Op::JumpIf { a, to } => {
                    if self.truth(self.get(base, a)) {
                        next = usize::from(to);
                    }
                }
                Op::JumpUnless { a, to } => {
                    if !self.truth(self.get(base, a)) {
                        next = usize::from(to);
                    }
                }
                Op::Return { a } => return Ok(self.get(base, a)),
                Op::ReturnCompare { op, a, b } => {
                    let holds = self.context.compare(op, self.get(base, a), self.get(base, b));
                    return holds.map(Value::bool).map_err(at);
                }
                Op::AddTo { slot, a, b } => {
                    let (a, b) = (self.get(base, a), self.get(base, b));
                    match (a.as_int(), b.as_int()) {
                        (Some(x), Some(y)) => {
                            let sum = x.checked_add(y).ok_or_else(overflow).map_err(at)?;
                            self.store(usize::from(slot), Value::int(sum));
                        }
                        _ => {
                            let sum = self.context.add(a, b).map_err(at)?;
                            self.store(usize::from(slot), sum);
                        }
                    }
                }
                Op::SubTo { slot, a, b } => {
                    let (a, b) = (self.get(base, a), self.get(base, b));
                    match (a.as_int(), b.as_int()) {
                        (Some(x), Some(y)) => {
                            let difference = x.checked_sub(y).ok_or_else(overflow).map_err(at)?;
                            self.store(usize::from(slot), Value::int(difference));
                        }
                        _ => {
                            let difference = self.context.subtract(a, b).map_err(at)?;
                            self.store(usize::from(slot), difference);
                        }
                    }
                }
                Op::SkipUnlessPrinting { to } => {
                    if !self.host.wants_output() {
                        next = usize::from(to);
                    }
                }
                Op::Next { iter, item, end } => {
                    let position = self.regs[base + usize::from(iter) + 1].as_int().unwrap_or(0);
                    let iterable = self.regs[base + usize::from(iter)];
                    match self.context.element(iterable, position as usize).map_err(at)? {
                        Some((value, after)) => {
                            self.set(base, item, value);
                            self.set(base, iter + 1, Value::int(after as i64));
                        }
                        None => {
                            self.set(base, iter, Value::UNSET);
                            next = usize::from(end);
                        }
                    }
                }
                Op::NextInRange { iter, item, end } => {
                    let first = base + usize::from(iter);
                    let (number, to, step) = match &self.regs[first..first + 3] {
                        [number, to, step] => self.context.range(&[*number, *to, *step]).map_err(at)?,
                        _ => (0, 0, 1),
                    };
                    if if step > 0 { number < to } else { number > to } {
                        self.set(base, item, Value::int(number));
                        // A range ends at the limits of 64 bits.
                        self.set(base, iter, Value::int(number.checked_add(step).unwrap_or(to)));
                    } else {
                        next = usize::from(end);
                    }
                }
                other => self.compound_op(other, base).map_err(at)?,
            }
            pc = next;
        }
    }

    #[inline(always)]
    fn truth(&self, value: Value) -> bool {
        value.as_bool().unwrap_or_else(|| self.context.view().truth(value))
    }

    #[inline(always)]
    fn store(&mut self, slot: usize, value: Value) {
        let old = core::mem::replace(&mut self.env[slot], value);
        if value.is(Tag::Object) || old.is(Tag::Object) {
            self.context.heap.retain(value);
            self.context.heap.release(old);
        }
    }

    /// Instructions that build, call or print; separate, so that the loop of simple instructions stays small.
    #[inline(never)]
    fn compound_op(&mut self, op: Op, base: usize) -> EvalResult<()> {
        match op {
            Op::Build { kind, dst, first, n } => {
                let items = registers(self.regs, base, first, n);
                let value = match kind {
                    CollectionKind::List => self.context.sequence(ObjectKind::List, items)?,
                    CollectionKind::Tuple => self.context.sequence(ObjectKind::Tuple, items)?,
                    CollectionKind::Set => self.context.set_of(items)?,
                    CollectionKind::Dict => self.context.dict_of(items)?,
                };
                self.set(base, dst, value);
            }
            Op::Index { dst, a, b } => {
                let value = self.context.index(self.get(base, a), self.get(base, b))?;
                self.set(base, dst, value);
            }
            Op::Slice { dst, a, first } => {
                let bound = |i: u16| self.regs[base + usize::from(first + i)];
                let (start, stop, step) = (bound(0), bound(1), bound(2));
                let value = self.context.slice(self.get(base, a), start, stop, step)?;
                self.set(base, dst, value);
            }
            Op::Call { dst, function, first } => {
                let value = self.call(function, base + usize::from(first))?;
                self.set(base, dst, value);
            }
            Op::Builtin { builtin, dst, first, n } => {
                let value = self.context.builtin(builtin, registers(self.regs, base, first, n))?;
                self.set(base, dst, value);
            }
            Op::Method { method, dst, first, n } => {
                let args = registers(self.regs, base, first + 1, n - 1);
                let value = self.context.method(method, self.regs[base + usize::from(first)], args)?;
                self.set(base, dst, value);
            }
            Op::Mutate { mutation, variable, first, n } => {
                let value = self.mutate(mutation, variable, base, first, n)?;
                self.set(base, first, value);
            }
            Op::Iterate { iter, a } => {
                let iterable = self.get(base, a);
                self.context.element(iterable, 0)?;
                self.set(base, iter, iterable);
                self.set(base, iter + 1, Value::int(0));
            }
            Op::Unpack { a, first, n } => {
                let items = self.context.elements(self.get(base, a))?;
                if items.len() != usize::from(n) {
                    return Err(Fault::new(
                        FaultKind::Value,
                        format!("cannot unpack {} values into {n} names", items.len()),
                    ));
                }
                for (i, item) in items.into_iter().enumerate() {
                    self.set(base, first + i as u16, item);
                }
            }
            Op::Print { first, n } => {
                let EvalContext { heap, texts, scratch, .. } = &mut self.context;
                let view = ValueReader { heap, texts: *texts };
                scratch.clear();
                for (i, value) in registers(self.regs, base, first, n).iter().enumerate() {
                    if i > 0 {
                        scratch.push(' ');
                    }
                    view.write_str(scratch, *value)?;
                }
                self.host.print(scratch);
            }
            Op::Show { dst, a, format } => {
                let value = self.get(base, a);
                let format = self.program.formats[usize::from(format)];
                let text = self.context.text(|view, out| view.write_formatted(out, value, format))?;
                self.set(base, dst, text);
            }
            Op::Join { dst, first, n } => {
                let parts = registers(self.regs, base, first, n);
                let text = self
                    .context
                    .text(|view, out| parts.iter().try_for_each(|part| view.write_str(out, *part)))?;
                self.set(base, dst, text);
            }
            Op::Host { function, dst, first, n } => {
                let args = registers(self.regs, base, first, n);
                let value = self.host.call(usize::from(function), args, self.context.view())?;
                let texts = TextArenas { event: self.host.text(), ..self.context.texts };
                let value = texts.own(self.context.heap, value)?;
                self.set(base, dst, value);
            }
            Op::Assert { a, message } if !self.truth(self.get(base, a)) => {
                let mut text = String::from("assertion failed");
                let message = self.get(base, message);
                if !message.is_none() {
                    text.push_str(": ");
                    self.context.view().write_str(&mut text, message)?;
                }
                return Err(Fault::new(FaultKind::Assertion, text));
            }
            // All other instructions are executed by `ops`.
            _ => {}
        }
        Ok(())
    }

    fn call(&mut self, function: u16, base: usize) -> EvalResult<Value> {
        let program = self.program;
        self.context.budget.spend(1)?;
        if self.calls == MAX_CALLS {
            return Err(Fault::new(FaultKind::Limit, "function calls are nested more than 64 deep"));
        }
        let code = program.code(program.functions[usize::from(function)].1);
        let top = base + usize::from(code.registers);
        if self.regs.len() < top {
            self.regs.resize(top, Value::UNSET);
        }
        if code.clears {
            self.regs[base + usize::from(code.arguments)..top].fill(Value::UNSET);
        }
        let caller = core::mem::replace(&mut self.top, top);
        self.calls += 1;
        let result = self.code(code, base);
        self.calls -= 1;
        self.top = caller;
        result
    }

    /// Applies a mutation to `variable`. If its object is shared, a copy is changed.
    fn mutate(
        &mut self,
        mutation: Mutation,
        variable: Operand,
        base: usize,
        first: Reg,
        n: u16,
    ) -> EvalResult<Value> {
        for reg in base + usize::from(first)..base + usize::from(first + n) {
            self.regs[reg] = self.context.texts.own(self.context.heap, self.regs[reg])?;
        }
        let value = self.get(base, variable);
        let Some(object) = value.as_object() else {
            return Err(self.context.cannot_mutate(mutation, value));
        };
        let in_env = variable.space() == Space::Env;
        let held = self.regs[..self.top].iter().filter(|reg| reg.bits() == value.bits()).count();
        let is_unshared = match in_env {
            true => self.context.heap.count(object) == 1 && held == 0,
            false => self.context.heap.count(object) == 0 && held == 1,
        };
        // These may fault after some elements; the variable must then be unchanged.
        let piecemeal = matches!(mutation, Mutation::Update | Mutation::Extend);
        let own = if is_unshared && !piecemeal {
            object
        } else {
            self.context.budget.spend(self.context.heap.len(object) as u64 / 4)?;
            self.context.heap.duplicate(object)?
        };
        let args = registers(self.regs, base, first, n);
        let (moved, result) = self.context.mutate(mutation, own, args)?;
        match in_env {
            true => self.store(variable.index(), Value::object(moved)),
            false => self.regs[base + variable.index()] = Value::object(moved),
        }
        Ok(result)
    }

    #[cold]
    fn unset(&self, name: u16) -> Box<Fault> {
        let name = self.program.names.get(usize::from(name)).map_or("this variable", String::as_str);
        Fault::new(FaultKind::Unset, format!("{name} is read before it is assigned"))
    }
}
