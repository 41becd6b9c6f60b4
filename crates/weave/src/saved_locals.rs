//! Access to `this` and the arguments in the middle of a method.
//!
//! A parameter that is never assigned and is known in every frame still holds its argument, so it is loaded where it is
//! needed. Any other is copied to an additional variable at the method entry, which is added to every frame. In a
//! constructor, `this` can be passed on only after `super(…)`.

use crate::code::Code;
use crate::descriptor::Shape;
use crate::emit::Source;
use crate::frames::{self, Frame, Type};
use crate::opcode;
use crate::plan::Capture;
use crate::pool::Pool;
use crate::sites::{InstructionEffect, Method, Sites};

/// A copy made at the method entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SavedLocal {
    pub(crate) shape: Shape,
    pub(crate) from: u16,
    pub(crate) to: u16,
}

/// `this` and the arguments that probes capture, with their sources.
#[derive(Debug, Default)]
pub(crate) struct SavedLocals {
    sources: Vec<(Capture, Source)>,
    pub(crate) copies: Vec<SavedLocal>,
    /// The first unused slot.
    pub(crate) free: u32,
}

impl SavedLocals {
    /// Determines what the probes of a method capture. `start` are the locals at the start, with arbitrary classes.
    pub(crate) fn new(
        method: &Method<'_>,
        code: &Code<'_>,
        frames: &[Frame],
        start: &[Type],
        sites: &Sites,
    ) -> SavedLocals {
        let mut saved = SavedLocals { free: u32::from(code.max_locals), ..SavedLocals::default() };
        let captures = needed_captures(sites);
        if captures.is_empty() {
            return saved;
        }
        let slots: Vec<_> = method.slots().collect();
        let variables: Vec<_> = captures
            .iter()
            .filter_map(|&capture| match capture {
                Capture::Argument(index) => slots.get(usize::from(index)).copied(),
                _ => (!method.is_static).then_some((0, Shape::Reference)),
            })
            .collect();
        if variables.is_empty() {
            return saved;
        }
        let mut intact = frames::typed_in_all_frames(frames, start.to_vec(), &variables);
        for index in 0..code.len() {
            if let Some((shape, slot)) = opcode::written_variable(code.bytes, code.pc(index)) {
                for (intact, &(variable, width)) in intact.iter_mut().zip(&variables) {
                    let is_disjoint = slot >= variable.saturating_add(width.slots())
                        || variable >= slot.saturating_add(shape.slots());
                    *intact &= is_disjoint;
                }
            }
        }
        let captures = captures.iter().filter(|&&capture| capture != Capture::This || !method.is_static);
        for ((&capture, &(slot, shape)), &intact) in captures.zip(&variables).zip(&intact) {
            let slot = if intact {
                slot
            } else {
                let to = u16::try_from(saved.free).unwrap_or(u16::MAX);
                saved.copies.push(SavedLocal { shape, from: slot, to });
                saved.free += u32::from(shape.slots());
                to
            };
            saved.sources.push((capture, Source::Slot(shape, slot)));
        }
        saved
    }

    /// Whether anything is captured.
    pub(crate) fn is_used(&self) -> bool {
        !self.sources.is_empty()
    }

    /// The source of `this` or of an argument.
    pub(crate) fn source(&self, capture: Capture) -> Source {
        self.sources.iter().find(|(other, _)| *other == capture).map_or(Source::Null, |&(_, source)| source)
    }

    /// The locals that hold captured values, all objects typed as one class. Valid wherever `this` is initialised.
    pub(crate) fn locals(&self, object: u16) -> Vec<Type> {
        let mut variables: Vec<_> = self
            .sources
            .iter()
            .filter_map(|&(_, source)| match source {
                Source::Slot(shape, slot) => Some((slot, Type::of(shape, object))),
                _ => None,
            })
            .collect();
        variables.sort_unstable_by_key(|&(slot, _)| slot);
        let mut locals = Vec::new();
        for (slot, value) in variables {
            frames::place(&mut locals, slot, value);
        }
        locals
    }

    /// Adds the copies to the locals of a frame.
    pub(crate) fn extend(&self, locals: &mut Vec<Type>, stack: &[Type], object: u16) {
        let is_initialised = !locals.iter().chain(stack).any(|&value| value == Type::UninitializedThis);
        for copy in &self.copies {
            let is_this = self.source(Capture::This) == Source::Slot(copy.shape, copy.to);
            let value = if is_this && !is_initialised {
                Type::UninitializedThis
            } else {
                Type::of(copy.shape, object)
            };
            frames::place(locals, copy.to, value);
        }
    }
}

/// The captures of `this` and of arguments outside of the method entry.
fn needed_captures(sites: &Sites) -> Vec<Capture> {
    let own = sites.instructions.iter().flat_map(|site| {
        let is_call = matches!(site.effect, InstructionEffect::Call { .. });
        let probes = site.before.iter().chain(&site.after);
        probes.flat_map(|probe| &probe.captures).filter(move |capture| !is_call || **capture == Capture::This)
    });
    let throw = sites.throw.iter().flat_map(|probe| &probe.captures);
    let mut captures: Vec<_> = own
        .chain(throw)
        .copied()
        .filter(|capture| matches!(capture, Capture::This | Capture::Argument(_)))
        .collect();
    captures.sort_unstable_by_key(|&capture| match capture {
        Capture::Argument(index) => u32::from(index) + 1,
        _ => 0,
    });
    captures.dedup();
    captures
}

/// For each instruction of a constructor, whether `this` is initialised before it, that is, whether `super(…)` has
/// returned. There is one more entry than instructions: the state after the last one. For other methods the result is
/// empty.
///
/// The frames determine the state at branch targets. In between, a constructor call initialises the most recent
/// uninitialised `new`, or `this`.
pub(crate) fn this_initialised(
    method: &Method<'_>,
    code: &Code<'_>,
    frames: &[Frame],
    start: &[Type],
    pool: &Pool<'_>,
) -> Vec<bool> {
    if !method.is_constructor() {
        return Vec::new();
    }
    let Some(frames) = frames::expand(frames, start.to_vec()) else { return vec![false; code.len() + 1] };
    let mut frames = frames.iter().peekable();
    let mut initialised = Vec::with_capacity(code.len() + 1);
    // The number of objects after their `new` and before the call of their constructor.
    let (mut is_initialised, mut uninitialised) = (false, 0);
    for index in 0..code.len() {
        if let Some(frame) = frames.next_if(|frame| frame.pc as usize <= code.pc(index)) {
            let values = || frame.locals.iter().chain(&frame.stack);
            is_initialised = !values().any(|&value| value == Type::UninitializedThis);
            let mut created: Vec<_> = values()
                .filter_map(|&value| match value {
                    Type::Uninitialized(pc) => Some(pc),
                    _ => None,
                })
                .collect();
            created.sort_unstable();
            created.dedup();
            uninitialised = created.len();
        }
        initialised.push(is_initialised);
        match code.op(index) {
            opcode::NEW => uninitialised += 1,
            opcode::INVOKESPECIAL if !is_initialised && pool.is_constructor(code.operand(index)) => {
                if uninitialised == 0 {
                    is_initialised = true;
                } else {
                    uninitialised -= 1;
                }
            }
            _ => {}
        }
    }
    initialised.push(is_initialised);
    initialised
}
