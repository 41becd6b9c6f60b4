//! Weaving of a method: assembles its probes, code, handlers, frames and tables.

use std::borrow::Cow;

use crate::bytes::Write;
use crate::code::{Code, Handler};
use crate::descriptor::Shape;
use crate::emit::Emitter;
use crate::error::ClassFileError;
use crate::frames::{self, Form, Frame, Type};
use crate::layout::{LIMIT, Layout, WeaveError, too_long};
use crate::pool::{Additions, PoolFullError};
use crate::probe_code::ProbeEmitter;
use crate::raw::ClassFileParts;
use crate::saved_locals::{self, SavedLocals};
use crate::sites::{Method, Sites};
use crate::tables;
use crate::unlock_handlers::{UnlockHandlers, UnlockPath};

/// First version of class files with frames.
const WITH_FRAMES: u16 = 50;

/// Returns the content of the new `Code` attribute.
pub(crate) fn weave(
    raw: &ClassFileParts<'_>,
    method: &Method<'_>,
    code: &Code<'_>,
    sites: &Sites,
    helper: &str,
    pool: &mut Additions,
) -> Result<Vec<u8>, WeaveError> {
    let old_frames = raw.attribute(&code.attributes, b"StackMapTable").filter(|_| raw.major >= WITH_FRAMES);
    let frames = old_frames.map_or(Ok(Vec::new()), |attribute| frames::read(raw, attribute))?;
    let any_class = initial_locals(raw, method, |_| Ok(raw.this_class))?;
    let saved = SavedLocals::new(method, code, &frames, &any_class, sites);
    let this_initialised = saved_locals::this_initialised(method, code, &frames, &any_class, &raw.pool);
    let mut unlock = UnlockHandlers::new(code, sites, &this_initialised);

    // Code.
    let lock = u16::try_from(saved.free).map_err(|_| too_many("variables"))?;
    let emitter = Emitter::new(pool, helper);
    let mut probe_emitter =
        ProbeEmitter { method, saved: &saved, this_initialised: &this_initialised, emitter, lock, used: 0 };
    let prologue = probe_emitter.prologue(sites)?;
    let probe_codes = sites
        .instructions
        .iter()
        .map(|site| probe_emitter.probe_code(site))
        .collect::<Result<Vec<_>, _>>()?;
    let handler = if sites.throw.is_empty() { Vec::new() } else { probe_emitter.handler(&sites.throw)? };
    // An unlock path has the exception and the lock on its stack.
    let min_stack = if unlock.is_empty() { 0 } else { 2 };
    let max_stack = (u32::from(code.max_stack) + u32::from(probe_emitter.emitter.peak)).max(min_stack);
    let max_locals = u32::from(lock) + u32::from(probe_emitter.used);
    let layout = Layout::new(code, &probe_codes, prologue.len())?;
    let mut bytes = layout.write(code, &probe_codes, &prologue)?;
    let handler_at = bytes.len() as u32;
    bytes.extend_from_slice(&handler);
    unlock.write(code, &layout, &probe_codes, lock, &mut bytes)?;
    let length = bytes.len() as u32;
    if length > LIMIT {
        return Err(too_long(length));
    }

    // Handlers.
    let mut handlers = unlock.handlers.clone();
    let added_handlers = u16::try_from(handlers.len()).map_err(|_| too_many("handlers"))?;
    let target = |pc: u16| Ok::<_, ClassFileError>(layout.target[code.index(pc.into())?] as u16);
    for old in &code.handlers {
        let (start, end, handler) = (target(old.start)?, target(old.end)?, target(old.handler)?);
        handlers.push(Handler { start, end, handler, ..*old });
    }
    if !sites.throw.is_empty() {
        for (start, end) in ranges(code, &layout, &this_initialised).into_iter().chain(unlock.rethrow_range) {
            handlers.push(Handler {
                start: start as u16,
                end: end as u16,
                handler: handler_at as u16,
                catch_type: 0,
            });
        }
    }

    // Frames.
    let mut new_frames = None;
    if raw.major >= WITH_FRAMES {
        let uses_object = saved.is_used() || !unlock.is_empty();
        let object = if uses_object { pool.class("java/lang/Object")? } else { 0 };
        let frames =
            Frames { raw, method, code, layout: &layout, saved: &saved, frames: &frames, lock, object };
        new_frames = frames.write(pool, (!handler.is_empty()).then_some(handler_at), &unlock)?;
    }

    let mut out = Vec::with_capacity(bytes.len() + 64);
    out.put2(u16::try_from(max_stack).map_err(|_| too_many("values on its stack"))?);
    out.put2(u16::try_from(max_locals).map_err(|_| too_many("variables"))?);
    out.put4(length);
    out.extend_from_slice(&bytes);
    out.put2(u16::try_from(handlers.len()).map_err(|_| too_many("handlers"))?);
    for handler in handlers {
        for word in [handler.start, handler.end, handler.handler, handler.catch_type] {
            out.put2(word);
        }
    }
    let adds_frames = old_frames.is_none() && new_frames.is_some();
    let count = code.attributes.len() + usize::from(adds_frames);
    out.put2(u16::try_from(count).map_err(|_| too_many("attributes"))?);
    if adds_frames && let Some(frames) = &new_frames {
        attribute(&mut out, pool.text("StackMapTable")?, frames);
    }
    for old in &code.attributes {
        let moved = match (&old_frames, &new_frames) {
            (Some(frames), Some(new)) if frames.start == old.start => Some(new.clone()),
            _ => tables::moved(raw, code, &layout, *old, added_handlers)?,
        };
        attribute(&mut out, old.name, moved.as_deref().unwrap_or(&raw.bytes[old.start..old.end]));
    }
    Ok(out)
}

fn attribute(out: &mut Vec<u8>, name: u16, content: &[u8]) {
    out.put2(name);
    out.put4(content.len() as u32);
    out.extend_from_slice(content);
}

fn too_many(noun: &str) -> WeaveError {
    WeaveError::Skipped(Cow::Owned(format!(
        "it would have too many {noun}; instrument fewer sites in it or split it"
    )))
}

/// The locals at the start of a method; `class` looks up the constants of classes.
fn initial_locals(
    raw: &ClassFileParts<'_>,
    method: &Method<'_>,
    mut class: impl FnMut(&str) -> Result<u16, PoolFullError>,
) -> Result<Vec<Type>, PoolFullError> {
    let mut locals = Vec::with_capacity(method.parameters.len() + 1);
    if !method.is_static {
        locals.push(if method.is_constructor() {
            Type::UninitializedThis
        } else {
            Type::Object(raw.this_class)
        });
    }
    for parameter in &method.parameters {
        let name = parameter.strip_prefix('L').map_or(*parameter, |name| name.trim_end_matches(';'));
        let shape = Shape::of(parameter).unwrap_or(Shape::Int);
        let index = if shape == Shape::Reference { class(name)? } else { 0 };
        locals.push(Type::of(shape, index));
    }
    Ok(locals)
}

/// The ranges of code whose exceptions are reported: all code except the part of a constructor before `this` is
/// initialised.
fn ranges(code: &Code<'_>, layout: &Layout, this_initialised: &[bool]) -> Vec<(u32, u32)> {
    let is_initialised =
        |instruction: usize| this_initialised.get(instruction).is_none_or(|initialised| *initialised);
    let mut ranges = Vec::new();
    let mut start = None;
    for instruction in 0..=code.len() {
        let is_covered = instruction < code.len() && is_initialised(instruction);
        match (start, is_covered) {
            (None, true) => start = Some(layout.target[instruction]),
            (Some(from), false) => {
                ranges.push((from, layout.target[instruction]));
                start = None;
            }
            _ => {}
        }
    }
    ranges
}

/// Emits the frames of a method.
struct Frames<'m> {
    raw: &'m ClassFileParts<'m>,
    method: &'m Method<'m>,
    code: &'m Code<'m>,
    layout: &'m Layout,
    saved: &'m SavedLocals,
    frames: &'m [Frame],
    lock: u16,
    object: u16,
}

impl Frames<'_> {
    fn write(
        &self,
        pool: &mut Additions,
        handler_at: Option<u32>,
        unlock: &UnlockHandlers,
    ) -> Result<Option<Vec<u8>>, WeaveError> {
        let layout = self.layout;
        // If locals or frames were added in front, a frame cannot be encoded relative to the previous one.
        let needs_full_frames = !self.saved.copies.is_empty() || !layout.first_islands.is_empty();
        let mut full = Vec::new();
        let mut start_locals = Vec::new();
        if needs_full_frames || !layout.last_islands.is_empty() || !unlock.is_empty() {
            start_locals = initial_locals(self.raw, self.method, |name| pool.class(name))?;
            full = frames::expand(self.frames, start_locals.clone()).ok_or_else(|| too_many("frames"))?;
            for frame in &mut full {
                self.saved.extend(&mut frame.locals, &frame.stack, self.object);
            }
            self.saved.extend(&mut start_locals, &[], self.object);
        }
        let frame_at = |pc: usize| {
            let found = full.binary_search_by_key(&(pc as u32), |frame| frame.pc);
            found.map(|index| &full[index]).map_err(|_| ClassFileError::Malformed {
                offset: self.code.at + pc,
                message: "a branch target has no frame",
            })
        };

        let mut writer = frames::Writer::default();
        for &(offset, target) in &layout.first_islands {
            self.frame(&mut writer, offset, frame_at(self.code.pc(target))?)?;
        }
        if !layout.first_islands.is_empty() && self.frames.first().is_none_or(|frame| frame.pc != 0) {
            writer.frame(layout.target[0], Form::Full, &start_locals, &[]);
        }
        for frame in if needs_full_frames { &full } else { self.frames } {
            let index = self.code.index(frame.pc as usize)?;
            self.frame(&mut writer, layout.target[index], frame)?;
        }
        for &(offset, target) in &layout.last_islands {
            self.frame(&mut writer, offset, frame_at(self.code.pc(target))?)?;
        }
        let throwable =
            if handler_at.is_some() || !unlock.is_empty() { pool.class("java/lang/Throwable")? } else { 0 };
        let thrown = [Type::Object(throwable)];
        if let Some(offset) = handler_at {
            writer.frame(offset, Form::Full, &self.saved.locals(self.object), &thrown);
        }
        for &(path, offset) in &unlock.paths {
            let mut frame = match path {
                UnlockPath::Handler(pc) => frame_at(pc.into())?.clone(),
                UnlockPath::Rethrow => self.rethrow_frame(self.saved.locals(self.object), &thrown),
                UnlockPath::RethrowBeforeInit => self.rethrow_frame(vec![Type::UninitializedThis], &thrown),
            };
            frames::place(&mut frame.locals, self.lock, Type::Object(self.object));
            self.frame(&mut writer, offset, &frame)?;
        }
        if writer.is_empty() {
            return Ok(None);
        }
        Ok(Some(writer.finish().ok_or_else(|| too_many("frames"))?))
    }

    fn rethrow_frame(&self, locals: Vec<Type>, stack: &[Type]) -> Frame {
        Frame { pc: 0, form: Form::Full, locals, stack: stack.to_vec() }
    }

    /// Emits a frame with its offsets relocated.
    fn frame(&self, writer: &mut frames::Writer, offset: u32, frame: &Frame) -> Result<(), ClassFileError> {
        let moved = |types: &[Type]| {
            types
                .iter()
                .map(|&value| match value {
                    Type::Uninitialized(pc) => {
                        let index = self.code.index(pc.into())?;
                        Ok(Type::Uninitialized(self.layout.exact[index] as u16))
                    }
                    other => Ok(other),
                })
                .collect::<Result<Vec<_>, ClassFileError>>()
        };
        writer.frame(offset, frame.form, &moved(&frame.locals)?, &moved(&frame.stack)?);
        Ok(())
    }
}
