//! Prepared reads of values at one address of a function, fast enough for every event.

mod lower;
mod read_plan;

use crate::machine::{Memory, Registers, XMM0};
use crate::program::{Function, Program};
use crate::unwinding::Frame;
use crate::value::abi::integer_argument;
use crate::value::error::ExpressionError;
use crate::value::expression::{Expression, Kind, Node, Unary};
use crate::value::info::DieRef;
use crate::value::scalar::{Scalar, ScalarKind};
use crate::value::scope::Scope;
use crate::value::type_index::TypeIndex;
use crate::value::typed_value::{Location, TypedValue, Unavailable};
use crate::value::types::{Basic, Shape};
use lower::Lowering;
use read_plan::Computation;
pub use read_plan::{AccessPath, PathBase, ReadKind, ReadPlan};

/// The value to read, as users write it.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueRequest {
    /// The value of an expression.
    Expression(Expression),
    /// An argument by its number, counted from 1.
    Argument(usize),
    /// The return value of the function, read at a `ret` or just after the call.
    Returned,
}

impl ValueRequest {
    /// Parses `arg 1`, `ret` or an expression.
    ///
    /// # Errors
    /// If the text is none of these.
    pub fn parse(text: &str) -> Result<ValueRequest, ExpressionError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["ret"] => Ok(ValueRequest::Returned),
            ["arg", number] => match number.parse() {
                Ok(number) => Ok(ValueRequest::Argument(number)),
                Err(_) => Err(ExpressionError::new(0, format!("`{number}` is not an argument number"))
                    .remedy("arguments are counted from 1, as in `arg 1`")),
            },
            _ => Expression::parse(text).map(ValueRequest::Expression),
        }
    }
}

/// The registers that an extraction needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegisterNeeds {
    /// No registers.
    Nothing,
    /// The general registers.
    General,
    /// The general and vector registers.
    Vector,
}

/// A prepared read of one value at one address of a function.
#[derive(Clone, Debug)]
pub struct Extractor {
    access: Access,
    wanted: ScalarKind,
}

#[derive(Clone, Debug)]
enum Access {
    /// The value is never available.
    Unavailable(Unavailable),
    /// Computed by a few loads.
    Computation(Computation),
    /// Evaluated in the frames of the thread.
    Evaluated { request: ValueRequest, function: Option<DieRef>, level: usize, frames: usize },
}

/// Maximum number of frames that are unwound for one value.
const MAX_FRAMES: usize = 64;
/// Frames that are unwound for each `caller` operator: each function inlined into a caller has a frame of its own.
const FRAMES_PER_CALLER: usize = 4;
/// Frames that are unwound if the value is not available in its own frame: a value that was passed in a register may
/// be known only to a caller.
const FRAMES_FOR_PASSED_VALUE: usize = 8;

impl Extractor {
    /// Prepares an extraction at the instruction at `pc` in a function. It is valid until an image of the program is
    /// removed.
    ///
    /// # Errors
    /// If a name is unknown there (the error suggests the most similar one), the types do not fit the operators, or there
    /// is no argument with this number.
    pub fn compile(
        program: &Program,
        types: &TypeIndex,
        function: &Function,
        pc: u64,
        request: &ValueRequest,
        wanted: ScalarKind,
    ) -> Result<Extractor, ExpressionError> {
        let frames = blank_frames(program, pc);
        let level = level_of(&frames, function);
        let scope = Scope::new(program, types, &Zeros, &frames, level).for_check();
        let function_die =
            scope.info.position(&function.mapped).zip(function.die).map(|(image, die)| DieRef { image, die });
        let evaluated = |request: ValueRequest, frames| Access::Evaluated {
            request,
            function: function_die,
            level,
            frames,
        };
        let access = match request {
            ValueRequest::Expression(expression) => {
                check_names(&scope, &expression.root)?;
                let value = scope.evaluate(expression)?;
                match (
                    permanently_unavailable(&value),
                    Lowering::new(&scope, pc).computation(&expression.root, wanted),
                ) {
                    (Some(reason), _) => Access::Unavailable(reason),
                    (None, Some(computation)) => Access::Computation(computation),
                    (None, None) => evaluated(request.clone(), frames_for(&scope, &expression.root, level)),
                }
            }
            ValueRequest::Returned => {
                returned(&scope, function_die, wanted).unwrap_or_else(|| evaluated(ValueRequest::Returned, 1))
            }
            ValueRequest::Argument(number) => {
                return Self::argument(&scope, function, function_die, pc, *number, wanted);
            }
        };
        Ok(Extractor { access, wanted })
    }

    fn argument(
        scope: &Scope<'_>,
        function: &Function,
        function_die: Option<DieRef>,
        pc: u64,
        number: usize,
        wanted: ScalarKind,
    ) -> Result<Extractor, ExpressionError> {
        if function_die.is_some() {
            let arguments = scope.arguments();
            let Some(argument) = number.checked_sub(1).and_then(|at| arguments.get(at)) else {
                let count = arguments.len();
                let plural = if count == 1 { "" } else { "s" };
                return Err(ExpressionError::new(
                    0,
                    format!("`{}` has {count} argument{plural}", function.name),
                )
                .remedy("arguments are counted from 1"));
            };
            let request = ValueRequest::Expression(Expression::parse(argument.name)?);
            let (program, types) = (scope.info.program, scope.info.types);
            return Extractor::compile(program, types, function, pc, &request, wanted);
        }
        // For a function without debug information, only the calling convention is known.
        let path = match integer_argument(number.saturating_sub(1), 0) {
            Location::Memory(offset) => {
                let lowering = Lowering::new(scope, pc);
                let base = lowering.stack_argument(offset, function.entry == Some(pc));
                base.map(AccessPath::at)
            }
            Location::Register { number: register, .. } => {
                Some(AccessPath::Register { number: register, offset: 0 })
            }
            _ => None,
        };
        let access = match path {
            Some(path) => Access::Computation(Computation::Read(ReadPlan::scalar(path, Basic::LONG))),
            None => Access::Unavailable(Unavailable::NotUnderstood),
        };
        Ok(Extractor { access, wanted })
    }

    /// Whether a read can return a value; if not, every read returns the same reason.
    pub fn is_available(&self) -> bool {
        !matches!(self.access, Access::Unavailable(_))
    }

    /// Whether a read needs no unwinding; also true if the value is never available.
    pub fn needs_no_unwinding(&self) -> bool {
        !matches!(self.access, Access::Evaluated { .. })
    }

    /// The read plan and the requested kind, if the value is a single read without arithmetic.
    pub fn read_plan(&self) -> Option<(&ReadPlan, ScalarKind)> {
        match &self.access {
            Access::Computation(Computation::Read(read_plan)) => Some((read_plan, self.wanted)),
            _ => None,
        }
    }

    /// The registers that must be fetched.
    pub fn needs(&self) -> RegisterNeeds {
        match &self.access {
            Access::Unavailable(_) => RegisterNeeds::Nothing,
            Access::Computation(computation) => computation.needs(),
            Access::Evaluated { .. } => RegisterNeeds::Vector,
        }
    }

    /// Reads the value in a thread that is at the address.
    pub fn read(
        &self,
        registers: &Registers,
        memory: &dyn Memory,
        program: &Program,
        types: &TypeIndex,
    ) -> Scalar {
        match &self.access {
            Access::Unavailable(reason) => Scalar::Unavailable(*reason),
            Access::Computation(computation) => computation.read(registers, memory, self.wanted),
            Access::Evaluated { request, function, level, frames } => {
                let frames = program.unwind(registers, memory, *frames);
                let scope = Scope::new(program, types, memory, &frames, *level);
                let value = match (request, function) {
                    (ValueRequest::Expression(expression), _) => scope.evaluate_checked(expression),
                    (ValueRequest::Returned, Some(function)) => Ok(scope.returned(*function)),
                    _ => Err(Unavailable::NotUnderstood),
                };
                match value {
                    Ok(value) => scope.to_scalar(&value, self.wanted),
                    Err(reason) => Scalar::Unavailable(reason),
                }
            }
        }
    }
}

/// Memory full of zeros, sufficient for checking names and types: the values themselves do not matter, as the scope is
/// [for a check](Scope::for_check).
struct Zeros;

impl Memory for Zeros {
    fn read(&self, _: u64, into: &mut [u8]) -> Result<(), crate::machine::Inaccessible> {
        into.fill(0);
        Ok(())
    }
}

/// Frames at an address without a thread.
fn blank_frames(program: &Program, pc: u64) -> Vec<Frame> {
    let mut registers = Registers::default();
    for number in 0..17 {
        registers.set(gimli::Register(number), Some(0));
    }
    registers.set(crate::machine::RIP, Some(pc));
    registers.set_vectors(Some([0; 16]));
    registers.thread_base = 1;
    let frame = |function, is_inlined| Frame {
        registers,
        cfa: Some(0),
        pc,
        is_caller: false,
        is_inlined,
        function,
        line: None,
    };
    let chain = program.inline_chain(pc);
    if chain.is_empty() {
        return vec![frame(None, false)];
    }
    chain
        .into_iter()
        .map(|active| (active.is_inlined, active))
        .map(|(inlined, a)| frame(Some(a), inlined))
        .collect()
}

/// The level of the function's frame: the function may be inlined at the address, or others may be inlined into it.
fn level_of(frames: &[Frame], function: &Function) -> usize {
    let is_of_function = |frame: &Frame| {
        frame.function.as_ref().and_then(|active| active.die).is_some_and(|die| {
            Some(die) == function.die || function.inlined.iter().any(|instance| instance.die == die)
        })
    };
    frames.iter().position(is_of_function).unwrap_or(frames.len().saturating_sub(1))
}

/// The reason, if the value can never be available at this address.
fn permanently_unavailable(value: &TypedValue) -> Option<Unavailable> {
    value.unavailable_reason().filter(|reason| {
        matches!(reason, Unavailable::OptimizedOut | Unavailable::NotYet | Unavailable::DeclaredOnly)
    })
}

/// Checks that names are known. Names in the frames of callers can be checked only at run time.
fn check_names(scope: &Scope<'_>, node: &Node) -> Result<(), ExpressionError> {
    match &node.kind {
        Kind::Name(_) => scope.evaluate(&Expression { root: node.clone() }).map(drop),
        Kind::Unary(Unary::Caller | Unary::SizeOf, _) => Ok(()),
        _ => operands(node).into_iter().try_for_each(|node| check_names(scope, node)),
    }
}

fn operands(node: &Node) -> Vec<&Node> {
    match &node.kind {
        Kind::Unary(_, a) | Kind::Member(a, _) | Kind::Arrow(a, _) | Kind::Cast(_, a) => vec![a],
        Kind::Binary(_, a, b) | Kind::Index(a, b) => vec![a, b],
        Kind::Conditional(a, b, c) => vec![a, b, c],
        Kind::Call(_, all) => all.iter().collect(),
        _ => Vec::new(),
    }
}

/// The number of frames that an expression needs: its own, those of the callers that it refers to, and
/// `FRAMES_FOR_PASSED_VALUE` more if its value is not available in its own frame.
fn frames_for(scope: &Scope<'_>, node: &Node, level: usize) -> usize {
    fn callers(node: &Node) -> usize {
        let own = usize::from(matches!(node.kind, Kind::Unary(Unary::Caller, _)));
        own + operands(node).into_iter().map(callers).max().unwrap_or(0)
    }
    let callers = callers(node);
    let passed = match scope.evaluate(&Expression { root: node.clone() }) {
        Ok(value) if value.unavailable_reason().is_none() => 0,
        _ => FRAMES_FOR_PASSED_VALUE,
    };
    (level + 1 + callers * FRAMES_PER_CALLER + passed).min(MAX_FRAMES)
}

/// How a return value is obtained: from one register, or never for `void`. `None` if it needs the general evaluation.
fn returned(scope: &Scope<'_>, function: Option<DieRef>, wanted: ScalarKind) -> Option<Access> {
    let Some(function) = function else {
        let path = AccessPath::Register { number: crate::machine::RAX, offset: 0 };
        return Some(Access::Computation(Computation::Read(ReadPlan::scalar(path, Basic::LONG))));
    };
    let ty = scope.result_type(function);
    if scope.info.shape(&ty) == Shape::Void {
        return Some(Access::Unavailable(Unavailable::NoResult));
    }
    if scope.info.is_returned_in_memory(&ty) {
        return None;
    }
    let Location::Register { number, .. } = scope.info.returned_in(&ty) else { return None };
    if number.0 >= XMM0.0 + 16 {
        return None;
    }
    let read_plan = lower::read_plan(scope, AccessPath::Register { number, offset: 0 }, &ty, None, wanted)?;
    Some(Access::Computation(Computation::Read(read_plan)))
}
