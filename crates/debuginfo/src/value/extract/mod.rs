//! Values at a point of a function, prepared once and then read in nanoseconds.

mod formula;
mod lower;

use crate::machine::{Memory, Registers, XMM0};
use crate::program::{Function, Program};
use crate::unwinding::Frame;
use crate::value::abi::integer_argument;
use crate::value::catalog::Catalog;
use crate::value::datum::{Datum, Place, Unavailable};
use crate::value::expression::{Expression, Kind, Node, Unary};
use crate::value::info::At;
use crate::value::mistake::Mistake;
use crate::value::plain::{Plain, Wanted};
use crate::value::scope::Scope;
use crate::value::types::{Basic, Shape, Type};
use formula::Formula;
pub use formula::{Base, Leaf, LeafKind, Path};
use lower::Lowering;

/// What is wanted at a point: as users write it.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// The value of an expression.
    Expression(Expression),
    /// An argument by its number, counted from 1.
    Argument(usize),
    /// What the function returns; at a `ret` or just behind the call.
    Returned,
}

impl Form {
    /// Parses `arg 1`, `ret` or an expression.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(text: &str) -> Result<Form, Mistake> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["ret"] => Ok(Form::Returned),
            ["arg", number] => match number.parse() {
                Ok(number) => Ok(Form::Argument(number)),
                Err(_) => Err(Mistake::new(0, format!("`{number}` is no number of an argument"))
                    .remedy("the first one is `arg 1`")),
            },
            _ => Expression::parse(text).map(Form::Expression),
        }
    }
}

/// Which registers an extraction needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// None at all.
    Nothing,
    /// The general ones.
    General,
    /// The vector registers, too.
    Vector,
}

/// How to get a value whenever a thread is at one point of a function.
#[derive(Clone, Debug)]
pub struct Extractor {
    how: How,
    wanted: Wanted,
}

#[derive(Clone, Debug)]
enum How {
    /// It is never there.
    Missing(Unavailable),
    /// By a few loads.
    Formula(Formula),
    /// By looking at the frames.
    General { form: Form, function: Option<At>, level: usize, frames: usize },
}

/// More frames than this are never looked at for one value.
const MOST_FRAMES: usize = 64;

impl Extractor {
    /// Prepares an extraction for the instruction at `pc` in a function. It holds as long as no image of the
    /// program is removed.
    ///
    /// # Errors
    /// If a name is not known there (the nearest one is told), or the types do not fit the operators.
    pub fn compile(
        program: &Program,
        catalog: &Catalog,
        function: &Function,
        pc: u64,
        form: &Form,
        wanted: Wanted,
    ) -> Result<Extractor, Mistake> {
        let frames = blank_frames(program, pc);
        let level = level_of(&frames, function);
        let scope = Scope::new(program, catalog, &Zeros, &frames, level);
        let at =
            scope.info.position(&function.loaded).zip(function.die).map(|(image, die)| At { image, die });
        let general = |form: Form, frames| How::General { form, function: at, level, frames };
        let how = match form {
            Form::Expression(expression) => {
                check_names(&scope, &expression.root)?;
                let datum = scope.evaluate(expression)?;
                match (gone(&datum), Lowering::new(&scope, pc).formula(&expression.root, wanted)) {
                    (Some(reason), _) => How::Missing(reason),
                    (None, Some(formula)) => How::Formula(formula),
                    (None, None) => general(form.clone(), frames_for(&scope, &expression.root, level)),
                }
            }
            Form::Returned => returned(&scope, at, wanted).unwrap_or_else(|| general(Form::Returned, 1)),
            Form::Argument(number) => {
                return Self::argument(&scope, function, at, pc, *number, wanted);
            }
        };
        Ok(Extractor { how, wanted })
    }

    fn argument(
        scope: &Scope<'_>,
        function: &Function,
        at: Option<At>,
        pc: u64,
        number: usize,
        wanted: Wanted,
    ) -> Result<Extractor, Mistake> {
        if at.is_some() {
            let arguments = scope.arguments();
            let Some(argument) = number.checked_sub(1).and_then(|at| arguments.get(at)) else {
                let count = arguments.len();
                return Err(Mistake::new(0, format!("`{}` has {count} arguments", function.name))
                    .remedy("they are counted from 1"));
            };
            let form = Form::Expression(Expression::parse(argument.name)?);
            let (program, catalog) = (scope.info.program, scope.info.catalog);
            return Extractor::compile(program, catalog, function, pc, &form, wanted);
        }
        // Of a function without debug information only the convention is known.
        let path = match integer_argument(number.saturating_sub(1), 0) {
            Place::Memory(offset) => {
                let lowering = Lowering::new(scope, pc);
                let base = lowering.stack_argument(offset, function.entry == Some(pc));
                base.map(Path::at)
            }
            Place::Register { number, .. } => Some(Path::Register { number, offset: 0 }),
            _ => None,
        };
        let how = match path {
            Some(path) => How::Formula(Formula::Leaf(Leaf::scalar(path, Basic::LONG))),
            None => How::Missing(Unavailable::NotUnderstood),
        };
        Ok(Extractor { how, wanted })
    }

    /// Whether there can be a value; otherwise reading always gives the same reason.
    pub fn is_available(&self) -> bool {
        !matches!(self.how, How::Missing(_))
    }

    /// Whether the value is read by a few loads, without looking at frames.
    pub fn is_fast(&self) -> bool {
        !matches!(self.how, How::General { .. })
    }

    /// The one value of the program that it is, and as what it is wanted, if it takes no more than a few loads.
    pub fn leaf(&self) -> Option<(&Leaf, Wanted)> {
        match &self.how {
            How::Formula(Formula::Leaf(leaf)) => Some((leaf, self.wanted)),
            _ => None,
        }
    }

    /// Which registers must be fetched for it.
    pub fn needs(&self) -> Needs {
        match &self.how {
            How::Missing(_) => Needs::Nothing,
            How::Formula(formula) => formula.needs(),
            How::General { .. } => Needs::Vector,
        }
    }

    /// The value, in a thread that is at the point.
    pub fn read(
        &self,
        registers: &Registers,
        memory: &dyn Memory,
        program: &Program,
        catalog: &Catalog,
    ) -> Plain {
        match &self.how {
            How::Missing(reason) => Plain::Unavailable(*reason),
            How::Formula(formula) => formula.read(registers, memory, self.wanted),
            How::General { form, function, level, frames } => {
                let frames = program.unwind(registers, memory, *frames);
                let scope = Scope::new(program, catalog, memory, &frames, *level);
                let datum = match (form, function) {
                    (Form::Expression(expression), _) => scope.evaluate(expression),
                    (Form::Returned, Some(function)) => Ok(scope.returned(*function)),
                    _ => Ok(Datum::none(Type::Void, Unavailable::NotUnderstood)),
                };
                match datum {
                    Ok(datum) => scope.plain(&datum, self.wanted),
                    // Names were checked before; what is left depends on the frames of callers.
                    Err(_) => Plain::Unavailable(Unavailable::NoCaller),
                }
            }
        }
    }
}

/// Memory that is all zeros: enough to find out about names and types.
struct Zeros;

impl Memory for Zeros {
    fn read(&self, _: u64, into: &mut [u8]) -> Result<(), crate::machine::Inaccessible> {
        into.fill(0);
        Ok(())
    }
}

/// The frames at an address, without a thread.
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

/// The frame that is of the function: it may be inlined at the point, or others may be inlined into it.
fn level_of(frames: &[Frame], function: &Function) -> usize {
    let is_it = |frame: &Frame| {
        frame.function.as_ref().and_then(|active| active.die).is_some_and(|die| {
            Some(die) == function.die || function.inlined.iter().any(|copy| copy.die == die)
        })
    };
    frames.iter().position(is_it).unwrap_or(frames.len().saturating_sub(1))
}

/// Whether a value can never be there at this point.
fn gone(datum: &Datum) -> Option<Unavailable> {
    datum.unavailable().filter(|reason| {
        matches!(reason, Unavailable::OptimizedOut | Unavailable::NotYet | Unavailable::DeclaredOnly)
    })
}

/// Checks that names are known. Those in the frames of callers can only be known when there is one.
fn check_names(scope: &Scope<'_>, node: &Node) -> Result<(), Mistake> {
    match &node.kind {
        Kind::Name(_) => scope.evaluate(&Expression { root: node.clone() }).map(drop),
        Kind::Unary(Unary::Caller | Unary::SizeOf, _) => Ok(()),
        _ => below(node).into_iter().try_for_each(|node| check_names(scope, node)),
    }
}

fn below(node: &Node) -> Vec<&Node> {
    match &node.kind {
        Kind::Unary(_, a) | Kind::Member(a, _) | Kind::Arrow(a, _) | Kind::Cast(_, a) => vec![a],
        Kind::Binary(_, a, b) | Kind::Index(a, b) => vec![a, b],
        Kind::Conditional(a, b, c) => vec![a, b, c],
        Kind::Call(_, all) => all.iter().collect(),
        _ => Vec::new(),
    }
}

/// How many frames an expression needs: its own, and those of the callers it speaks of.
fn frames_for(scope: &Scope<'_>, node: &Node, level: usize) -> usize {
    fn callers(node: &Node) -> usize {
        let own = usize::from(matches!(node.kind, Kind::Unary(Unary::Caller, _)));
        own + below(node).into_iter().map(callers).max().unwrap_or(0)
    }
    let callers = callers(node);
    // A value that was passed in a register may be known to the caller only; inlined frames count, too.
    let passed = match scope.evaluate(&Expression { root: node.clone() }) {
        Ok(datum) if datum.unavailable().is_none() => 0,
        _ => 8,
    };
    (level + 1 + callers * 4 + passed).min(MOST_FRAMES)
}

/// What a function returns, if it is in one register.
fn returned(scope: &Scope<'_>, function: Option<At>, wanted: Wanted) -> Option<How> {
    let Some(function) = function else {
        let path = Path::Register { number: crate::machine::RAX, offset: 0 };
        return Some(How::Formula(Formula::Leaf(Leaf::scalar(path, Basic::LONG))));
    };
    let ty = scope.result_type(function);
    if scope.info.shape(&ty) == Shape::Void {
        return Some(How::Missing(Unavailable::NoResult));
    }
    if scope.info.is_returned_in_memory(&ty) {
        return None;
    }
    let Place::Register { number, .. } = scope.info.returned_in(&ty) else { return None };
    if number.0 >= XMM0.0 + 16 {
        return None;
    }
    let leaf = lower::leaf(scope, Path::Register { number, offset: 0 }, &ty, None, wanted)?;
    Some(How::Formula(Formula::Leaf(leaf)))
}
