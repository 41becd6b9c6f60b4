//! Relocation of the tables of a method: lines, variables, type annotations.

use crate::bytes::{Reader, Write};
use crate::code::Code;
use crate::error::ClassFileError;
use crate::layout::Layout;
use crate::raw::{Attribute, ClassFileParts};

/// Relocates the offsets in a table. `None` for attributes without offsets.
pub(crate) fn moved(
    raw: &ClassFileParts<'_>,
    code: &Code<'_>,
    layout: &Layout,
    attribute: Attribute,
    added_handlers: u16,
) -> Result<Option<Vec<u8>>, ClassFileError> {
    let mut table = Table {
        reader: Reader::part(raw.bytes, attribute.start, attribute.end),
        out: Vec::with_capacity(attribute.end - attribute.start),
        code,
        layout,
        added_handlers,
    };
    match raw.pool.raw(attribute.name) {
        Some(b"LineNumberTable") => table.lines()?,
        Some(b"LocalVariableTable" | b"LocalVariableTypeTable") => {
            for _ in 0..table.word()? {
                table.scope()?;
                table.copy(6)?;
            }
        }
        Some(b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations") => {
            for _ in 0..table.word()? {
                table.annotation()?;
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(table.out))
}

const PART: &str = "a table of a method";

struct Table<'a, 'c> {
    reader: Reader<'a>,
    out: Vec<u8>,
    code: &'c Code<'a>,
    layout: &'c Layout,
    added_handlers: u16,
}

impl Table<'_, '_> {
    /// Copies a number.
    fn word(&mut self) -> Result<u16, ClassFileError> {
        let word = self.reader.u2(PART)?;
        self.out.put2(word);
        Ok(word)
    }

    fn byte(&mut self) -> Result<u8, ClassFileError> {
        let byte = self.reader.u1(PART)?;
        self.out.put1(byte);
        Ok(byte)
    }

    fn copy(&mut self, length: usize) -> Result<(), ClassFileError> {
        self.out.extend_from_slice(self.reader.take(length, PART)?);
        Ok(())
    }

    fn lines(&mut self) -> Result<(), ClassFileError> {
        for _ in 0..self.word()? {
            let pc = usize::from(self.reader.u2(PART)?);
            // The probes at the entry belong to the first line.
            let new = if pc == 0 { 0 } else { self.layout.target[self.code.at_or_after(pc)] };
            self.out.put2(new as u16);
            self.copy(2)?;
        }
        Ok(())
    }

    /// Relocates a start and a length.
    fn scope(&mut self) -> Result<(), ClassFileError> {
        let start = usize::from(self.reader.u2(PART)?);
        let end = start + usize::from(self.reader.u2(PART)?);
        let new_start = self.layout.scope[self.code.at_or_after(start)];
        let new_end = if end == start { new_start } else { self.layout.target[self.code.at_or_after(end)] };
        self.out.put2(new_start as u16);
        self.out.put2(new_end.saturating_sub(new_start) as u16);
        Ok(())
    }

    fn annotation(&mut self) -> Result<(), ClassFileError> {
        let offset = self.reader.at();
        match self.byte()? {
            0x00 | 0x01 | 0x16 => self.copy(1)?,
            0x10..=0x12 | 0x17 => self.copy(2)?,
            0x13..=0x15 => {}
            0x40 | 0x41 => {
                for _ in 0..self.word()? {
                    self.scope()?;
                    self.copy(2)?;
                }
            }
            0x42 => {
                let handler = self.reader.u2(PART)?;
                self.out.put2(handler.saturating_add(self.added_handlers));
            }
            target @ 0x43..=0x4b => {
                let pc = usize::from(self.reader.u2(PART)?);
                self.out.put2(self.layout.exact[self.code.at_or_after(pc)] as u16);
                if target > 0x46 {
                    self.copy(1)?;
                }
            }
            _ => {
                return Err(ClassFileError::Malformed {
                    offset,
                    message: "unknown target of a type annotation",
                });
            }
        }
        let path = self.byte()?;
        self.copy(2 * usize::from(path))?;
        self.word()?;
        self.elements()
    }

    /// Copies the named values of an annotation, which can be nested. `true` on the stack is a list of values with
    /// names.
    fn elements(&mut self) -> Result<(), ClassFileError> {
        let mut open = vec![(self.word()?, true)];
        while let Some((left, named)) = open.pop() {
            let Some(left) = left.checked_sub(1) else { continue };
            open.push((left, named));
            if named {
                self.word()?;
            }
            let offset = self.reader.at();
            match self.byte()? {
                b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => self.copy(2)?,
                b'e' => self.copy(4)?,
                b'@' => {
                    self.word()?;
                    open.push((self.word()?, true));
                }
                b'[' => open.push((self.word()?, false)),
                _ => {
                    return Err(ClassFileError::Malformed {
                        offset,
                        message: "unknown value of an annotation",
                    });
                }
            }
        }
        Ok(())
    }
}
