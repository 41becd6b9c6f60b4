//! Instructions of a method.

use crate::bytes::{Reader, u2, u4};
use crate::error::ClassFileError;
use crate::opcode;
use crate::raw::{self, Attribute, ClassFileParts};

const PART: &str = "the code of a method";

/// The content of a `Code` attribute.
#[derive(Debug)]
pub(crate) struct Code<'a> {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) bytes: &'a [u8],
    /// Offset of the code in the file.
    pub(crate) at: usize,
    /// Offset of each instruction, followed by the length of the code.
    pub(crate) starts: Vec<u32>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) attributes: Vec<Attribute>,
}

/// Entry of the exception table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Handler {
    pub(crate) start: u16,
    pub(crate) end: u16,
    pub(crate) handler: u16,
    /// The class that is caught; 0 catches every exception.
    pub(crate) catch_type: u16,
}

impl<'a> Code<'a> {
    pub(crate) fn read(raw: &ClassFileParts<'a>, attribute: Attribute) -> Result<Code<'a>, ClassFileError> {
        let mut reader = Reader::part(raw.bytes, attribute.start, attribute.end);
        let (max_stack, max_locals) = (reader.u2(PART)?, reader.u2(PART)?);
        let length = reader.u4(PART)? as usize;
        let at = reader.at();
        if length == 0 || length > 0xffff {
            return Err(ClassFileError::Malformed {
                offset: at - 4,
                message: "the code of a method is empty or too long",
            });
        }
        let bytes = reader.take(length, PART)?;
        let count = reader.u2(PART)?;
        let handlers = (0..count)
            .map(|_| {
                Ok(Handler {
                    start: reader.u2(PART)?,
                    end: reader.u2(PART)?,
                    handler: reader.u2(PART)?,
                    catch_type: reader.u2(PART)?,
                })
            })
            .collect::<Result<_, _>>()?;
        let attributes = raw::attributes(&mut reader, PART)?;
        if !reader.is_at_end() {
            return Err(ClassFileError::Malformed {
                offset: reader.at(),
                message: "unexpected bytes after the code of a method",
            });
        }
        let mut starts = Vec::with_capacity(length / 2 + 1);
        let mut pc = 0;
        while pc < length {
            starts.push(pc as u32);
            pc += opcode::length(bytes, pc)
                .ok_or(ClassFileError::Malformed { offset: at + pc, message: "unknown instruction" })?;
        }
        starts.push(length as u32);
        Ok(Code { max_stack, max_locals, bytes, at, starts, handlers, attributes })
    }

    /// The number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn pc(&self, index: usize) -> usize {
        self.starts[index] as usize
    }

    pub(crate) fn op(&self, index: usize) -> u8 {
        self.bytes[self.pc(index)]
    }

    /// The bytes of an instruction.
    pub(crate) fn instruction(&self, index: usize) -> &'a [u8] {
        &self.bytes[self.pc(index)..self.pc(index + 1)]
    }

    /// The 16-bit operand of an instruction.
    pub(crate) fn operand(&self, index: usize) -> u16 {
        u2(self.bytes, self.pc(index) + 1)
    }

    /// The instruction at an offset; the end of the code counts as one.
    pub(crate) fn find(&self, pc: usize) -> Option<usize> {
        self.starts.binary_search(&u32::try_from(pc).ok()?).ok()
    }

    /// Like [`Code::find`], but an offset inside an instruction is an error.
    pub(crate) fn index(&self, pc: usize) -> Result<usize, ClassFileError> {
        self.find(pc).ok_or(ClassFileError::Malformed {
            offset: self.at + pc.min(self.bytes.len()),
            message: "the code of a method refers to the middle of an instruction",
        })
    }

    /// The instruction at an offset or the first one after it, for tables that the virtual machine does not verify.
    pub(crate) fn at_or_after(&self, pc: usize) -> usize {
        self.starts.partition_point(|&start| (start as usize) < pc).min(self.len())
    }

    /// The target of a branch.
    pub(crate) fn branch_target(&self, index: usize) -> Result<usize, ClassFileError> {
        let pc = self.pc(index);
        let offset = match self.op(index) {
            opcode::GOTO_W | opcode::JSR_W => i64::from(u4(self.bytes, pc + 1).cast_signed()),
            _ => i64::from(u2(self.bytes, pc + 1).cast_signed()),
        };
        self.relative_target(pc, offset)
    }

    /// The instruction at an offset from `pc`; the end of the code is not accepted.
    pub(crate) fn relative_target(&self, pc: usize, offset: i64) -> Result<usize, ClassFileError> {
        let target = usize::try_from(pc as i64 + offset).ok().and_then(|target| self.find(target));
        target
            .filter(|&index| index < self.len())
            .ok_or(ClassFileError::Malformed { offset: self.at + pc, message: "invalid branch target" })
    }

    /// The entries of a switch. The first one is the default.
    pub(crate) fn switch(&self, index: usize) -> Switch<'a> {
        let pc = self.pc(index);
        let operands = &self.bytes[pc + 1 + opcode::padding(pc)..self.pc(index + 1)];
        let is_table = self.op(index) == opcode::TABLESWITCH;
        let (fixed, entries) = operands.split_at(if is_table { 12 } else { 8 });
        Switch { default: u4(fixed, 0).cast_signed(), head: &fixed[4..], entries, is_table }
    }
}

/// The operands of a switch.
pub(crate) struct Switch<'a> {
    pub(crate) default: i32,
    /// The bounds, or the number of entries.
    pub(crate) head: &'a [u8],
    entries: &'a [u8],
    is_table: bool,
}

impl<'a> Switch<'a> {
    /// The matched value, if there is one, and the offset of each entry.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'a [u8], i32)> {
        let key = if self.is_table { 0 } else { 4 };
        self.entries.chunks_exact(key + 4).map(move |entry| (&entry[..key], u4(entry, key).cast_signed()))
    }
}
