//! Stack map frames: the types of locals and stack that the verifier expects at branch targets.

use crate::bytes::{Reader, Write};
use crate::descriptor::Shape;
use crate::error::ClassFileError;
use crate::raw::{Attribute, ClassFileParts};

/// A verification type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Top,
    Int,
    Float,
    Double,
    Long,
    Null,
    UninitializedThis,
    /// An instance of a class, given by its constant.
    Object(u16),
    /// Created by the `new` at this offset.
    Uninitialized(u16),
}

impl Type {
    /// The type of a value, with the given class for objects.
    pub(crate) fn of(shape: Shape, class: u16) -> Type {
        match shape {
            Shape::Int => Type::Int,
            Shape::Float => Type::Float,
            Shape::Long => Type::Long,
            Shape::Double => Type::Double,
            Shape::Reference => Type::Object(class),
        }
    }

    pub(crate) fn slots(self) -> u16 {
        if matches!(self, Type::Long | Type::Double) { 2 } else { 1 }
    }

    /// Whether a value of this type can be loaded as this shape.
    fn has_shape(self, shape: Shape) -> bool {
        match self {
            Type::Int => shape == Shape::Int,
            Type::Float => shape == Shape::Float,
            Type::Long => shape == Shape::Long,
            Type::Double => shape == Shape::Double,
            Type::Object(_) | Type::Null | Type::UninitializedThis => shape == Shape::Reference,
            Type::Top | Type::Uninitialized(_) => false,
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Type, ClassFileError> {
        let offset = reader.at();
        Ok(match reader.u1(PART)? {
            0 => Type::Top,
            1 => Type::Int,
            2 => Type::Float,
            3 => Type::Double,
            4 => Type::Long,
            5 => Type::Null,
            6 => Type::UninitializedThis,
            7 => Type::Object(reader.u2(PART)?),
            8 => Type::Uninitialized(reader.u2(PART)?),
            _ => {
                return Err(ClassFileError::Malformed {
                    offset,
                    message: "unknown verification type in a frame",
                });
            }
        })
    }

    fn write(self, bytes: &mut Vec<u8>) {
        match self {
            Type::Top => bytes.put1(0),
            Type::Int => bytes.put1(1),
            Type::Float => bytes.put1(2),
            Type::Double => bytes.put1(3),
            Type::Long => bytes.put1(4),
            Type::Null => bytes.put1(5),
            Type::UninitializedThis => bytes.put1(6),
            Type::Object(class) => {
                bytes.put1(7);
                bytes.put2(class);
            }
            Type::Uninitialized(pc) => {
                bytes.put1(8);
                bytes.put2(pc);
            }
        }
    }
}

const PART: &str = "the stack map of a method";

/// Encoding of a frame relative to the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Same locals; the stack is empty or holds one value.
    Same,
    /// This many locals fewer.
    Chop(u8),
    /// Additional locals.
    Append,
    /// All locals and stack values.
    Full,
}

/// A frame as it is encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) pc: u32,
    pub(crate) form: Form,
    pub(crate) locals: Vec<Type>,
    pub(crate) stack: Vec<Type>,
}

/// Reads the frames of a method.
pub(crate) fn read(raw: &ClassFileParts<'_>, attribute: Attribute) -> Result<Vec<Frame>, ClassFileError> {
    let mut reader = Reader::part(raw.bytes, attribute.start, attribute.end);
    let count = reader.u2(PART)?;
    let mut frames = Vec::with_capacity(usize::from(count).min(attribute.end - attribute.start));
    let mut next = 0u32;
    for _ in 0..count {
        let offset = reader.at();
        let tag = reader.u1(PART)?;
        let delta = match tag {
            0..=127 => u16::from(tag % 64),
            128..=246 => {
                return Err(ClassFileError::Malformed { offset, message: "unknown frame type" });
            }
            247.. => reader.u2(PART)?,
        };
        let read_types = |count: u16, reader: &mut Reader<'_>| {
            (0..count).map(|_| Type::read(reader)).collect::<Result<Vec<_>, _>>()
        };
        let (form, locals, stack) = match tag {
            0..=63 | 251 => (Form::Same, Vec::new(), Vec::new()),
            64..=247 => (Form::Same, Vec::new(), read_types(1, &mut reader)?),
            248..=250 => (Form::Chop(251 - tag), Vec::new(), Vec::new()),
            252..=254 => (Form::Append, read_types(u16::from(tag - 251), &mut reader)?, Vec::new()),
            255 => {
                let count = reader.u2(PART)?;
                let locals = read_types(count, &mut reader)?;
                let count = reader.u2(PART)?;
                (Form::Full, locals, read_types(count, &mut reader)?)
            }
        };
        let pc = next + u32::from(delta);
        next = pc + 1;
        frames.push(Frame { pc, form, locals, stack });
    }
    Ok(frames)
}

/// Maximum number of types processed in one method. Real methods need far fewer; a malformed file could require
/// billions.
const BUDGET: usize = 1 << 23;

/// Computes the complete contents of every frame from the locals at the start of the method. `None` if the budget is
/// exceeded.
pub(crate) fn expand(frames: &[Frame], mut locals: Vec<Type>) -> Option<Vec<Frame>> {
    let mut work = 0;
    frames
        .iter()
        .map(|frame| {
            apply(&mut locals, frame);
            work += locals.len();
            (work < BUDGET).then(|| Frame {
                pc: frame.pc,
                form: Form::Full,
                locals: locals.clone(),
                stack: frame.stack.clone(),
            })
        })
        .collect()
}

/// Updates the locals by the encoding of the next frame.
fn apply(locals: &mut Vec<Type>, frame: &Frame) {
    match frame.form {
        Form::Same => {}
        Form::Chop(count) => locals.truncate(locals.len().saturating_sub(count.into())),
        Form::Append => locals.extend_from_slice(&frame.locals),
        Form::Full => locals.clone_from(&frame.locals),
    }
}

/// For each variable, given by slot and shape, whether it has a type of that shape in every frame. Classes are
/// irrelevant, so the locals at the start may contain any.
pub(crate) fn typed_in_all_frames(
    frames: &[Frame],
    mut locals: Vec<Type>,
    variables: &[(u16, Shape)],
) -> Vec<bool> {
    let mut known = vec![true; variables.len()];
    let mut work = 0;
    for frame in frames {
        apply(&mut locals, frame);
        if frame.form == Form::Same || frame.form == Form::Append {
            continue;
        }
        work += locals.len() * variables.len();
        if work > BUDGET {
            return vec![false; variables.len()];
        }
        for (known, &(slot, shape)) in known.iter_mut().zip(variables) {
            let mut at = 0;
            *known &= locals.iter().any(|local| {
                let is_slot = at == slot;
                at = at.saturating_add(local.slots());
                is_slot && local.has_shape(shape)
            });
        }
    }
    known
}

/// Appends a type for a slot after all others; the gap is filled.
pub(crate) fn place(locals: &mut Vec<Type>, slot: u16, value: Type) {
    let used = locals.iter().fold(0u16, |used, local| used.saturating_add(local.slots()));
    locals.extend((used..slot).map(|_| Type::Top));
    locals.push(value);
}

/// Encodes frames in the order of the code.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    count: u32,
    next: u32,
}

impl Writer {
    /// Whether nothing was written, that is, the method has no frames.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a frame at its new offset. Offsets in types must already be those of the new code.
    pub(crate) fn frame(&mut self, pc: u32, form: Form, locals: &[Type], stack: &[Type]) {
        let delta = pc.saturating_sub(self.next) as u16;
        self.next = pc + 1;
        self.count += 1;
        let bytes = &mut self.bytes;
        match form {
            Form::Same if delta < 64 => bytes.put1(delta as u8 + if stack.is_empty() { 0 } else { 64 }),
            Form::Same => {
                bytes.put1(if stack.is_empty() { 251 } else { 247 });
                bytes.put2(delta);
            }
            Form::Chop(count) => {
                bytes.put1(251 - count);
                bytes.put2(delta);
            }
            Form::Append => {
                bytes.put1(251 + locals.len() as u8);
                bytes.put2(delta);
                locals.iter().for_each(|local| local.write(bytes));
            }
            Form::Full => {
                bytes.put1(255);
                bytes.put2(delta);
                bytes.put2(locals.len() as u16);
                locals.iter().for_each(|local| local.write(bytes));
                bytes.put2(stack.len() as u16);
            }
        }
        stack.iter().for_each(|value| value.write(bytes));
    }

    /// The content of the attribute. `None` if there are too many frames for the format.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        let mut attribute = Vec::with_capacity(self.bytes.len() + 2);
        attribute.put2(u16::try_from(self.count).ok()?);
        attribute.extend_from_slice(&self.bytes);
        Some(attribute)
    }
}
