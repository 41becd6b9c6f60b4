//! Comparison of the tables of a method.

use super::align::{Alignment, Exit};
use super::{Reason, same_content};
use crate::bytes::Reader;
use crate::code::{Code, Handler};
use crate::error::ClassFileError;
use crate::raw::{Attribute, ClassFileParts};

/// Checks that the original handlers are present in order. Others may only release the lock or report uncaught
/// exceptions.
pub(crate) fn check_handlers(
    old_code: &Code<'_>,
    new_code: &Code<'_>,
    alignment: &Alignment,
) -> Result<(), Reason> {
    let at = |pc: u16| old_code.find(pc.into()).ok_or_else(|| "a handler has an invalid offset".to_owned());
    let mut old = old_code.handlers.iter().peekable();
    let mut seen = 0;
    let mut locked: Vec<(Handler, Exit)> = Vec::new();
    for new in &new_code.handlers {
        let next = old.peek().copied();
        if let Some(next) = next {
            let belongs =
                |old: u16, new: u16| Ok::<_, Reason>(alignment.belongs(new_code, at(old)?, new.into()));
            if next.catch_type == new.catch_type
                && belongs(next.start, new.start)?
                && belongs(next.end, new.end)?
                && belongs(next.handler, new.handler)?
            {
                old.next();
                seen += 1;
                continue;
            }
        }
        let handler = usize::from(new.handler);
        if let Some(&exit) = alignment.exits.get(&handler)
            && seen == 0
        {
            locked.push((*new, exit));
        } else if alignment.handler != Some(handler) || next.is_some() || new.catch_type != 0 {
            return Err("a handler was added that does not belong to a probe".to_owned());
        }
    }
    if old.peek().is_some() {
        return Err("a handler is missing".to_owned());
    }
    let mut rest = &locked[..];
    while let Some((first, _)) = rest.first() {
        let range = (first.start, first.end);
        let length = rest.iter().take_while(|(handler, _)| (handler.start, handler.end) == range).count();
        let (group, rest_after) = rest.split_at(length);
        check_exits(old_code, new_code, alignment, group)?;
        rest = rest_after;
    }
    Ok(())
}

/// Checks that the exit paths of a locked write lead exactly to its original handlers, in order.
fn check_exits(
    old_code: &Code<'_>,
    new_code: &Code<'_>,
    alignment: &Alignment,
    group: &[(Handler, Exit)],
) -> Result<(), Reason> {
    let wrong = || "an exception at a locked write has a different target".to_owned();
    let start = group.first().map_or(0, |(handler, _)| usize::from(handler.start));
    let new = new_code.find(start).ok_or_else(wrong)?;
    let pc = old_code.pc(alignment.new.binary_search(&new).map_err(|_| wrong())?);
    let around =
        old_code.handlers.iter().filter(|h| (usize::from(h.start)..usize::from(h.end)).contains(&pc));
    let mut group = group.iter();
    for old in around {
        let (new, exit) = group.next().ok_or_else(wrong)?;
        let targets = old_code.find(old.handler.into()).zip(match exit {
            Exit::To(pc) => Some(*pc),
            Exit::Out => None,
        });
        let is_same_target = targets.is_some_and(|(old, pc)| alignment.belongs(new_code, old, pc));
        if !is_same_target || old.catch_type != new.catch_type {
            return Err(wrong());
        }
        if old.catch_type == 0 {
            return if group.next().is_none() { Ok(()) } else { Err(wrong()) };
        }
    }
    match (group.next(), group.next()) {
        (Some((new, Exit::Out)), None) if new.catch_type == 0 => Ok(()),
        _ => Err(wrong()),
    }
}

/// Checks that the attributes of the code are present in order, with the same contents for the original instructions.
/// Frames may differ.
pub(crate) fn check_attributes(
    old_class: &ClassFileParts<'_>,
    old_code: &Code<'_>,
    new_class: &ClassFileParts<'_>,
    new_code: &Code<'_>,
    alignment: &Alignment,
) -> Result<(), Reason> {
    let is_frames = |raw: &ClassFileParts<'_>, attribute: &Attribute| {
        raw.pool.raw(attribute.name) == Some(b"StackMapTable")
    };
    let rest = |raw: &ClassFileParts<'_>, code: &Code<'_>| {
        code.attributes.iter().filter(|attribute| !is_frames(raw, attribute)).copied().collect::<Vec<_>>()
    };
    let (before, after) = (rest(old_class, old_code), rest(new_class, new_code));
    let had_frames = old_code.attributes.len() > before.len();
    let has_frames = new_code.attributes.len() > after.len();
    if before.len() != after.len() || (had_frames && !has_frames) {
        return Err("an attribute of its code is missing, or was added".to_owned());
    }
    for (a, b) in before.iter().zip(&after) {
        let name = old_class.pool.raw(a.name);
        let same = a.name == b.name
            && match name {
                Some(b"LineNumberTable") => {
                    same_lines(old_class, old_code, a, new_class, new_code, b, alignment)
                }
                Some(b"LocalVariableTable" | b"LocalVariableTypeTable") => {
                    same_variables(old_class, old_code, a, new_class, new_code, b, alignment)
                }
                Some(b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations") => {
                    Ok(a.end - a.start == b.end - b.start)
                }
                _ => Ok(same_content(old_class, a, new_class, b)),
            }
            .map_err(|error: ClassFileError| error.to_string())?;
        if !same {
            let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
            return Err(format!("its {name} changed"));
        }
    }
    Ok(())
}

fn same_lines(
    old_class: &ClassFileParts<'_>,
    old_code: &Code<'_>,
    a: &Attribute,
    new_class: &ClassFileParts<'_>,
    new_code: &Code<'_>,
    b: &Attribute,
    alignment: &Alignment,
) -> Result<bool, ClassFileError> {
    let (before, after) = (crate::class::lines(old_class, *a)?, crate::class::lines(new_class, *b)?);
    Ok(before.len() == after.len()
        && before.iter().zip(&after).all(|(x, y)| {
            x.line == y.line && alignment.belongs(new_code, old_code.at_or_after(x.pc.into()), y.pc.into())
        }))
}

fn same_variables(
    old_class: &ClassFileParts<'_>,
    old_code: &Code<'_>,
    a: &Attribute,
    new_class: &ClassFileParts<'_>,
    new_code: &Code<'_>,
    b: &Attribute,
    alignment: &Alignment,
) -> Result<bool, ClassFileError> {
    const PART: &str = "the local variable table";
    let read = |raw: &ClassFileParts<'_>, attribute: &Attribute| {
        let mut reader = Reader::part(raw.bytes, attribute.start, attribute.end);
        let count = reader.u2(PART)?;
        (0..count)
            .map(|_| {
                let (start, length) = (reader.u2(PART)?, reader.u2(PART)?);
                Ok((
                    usize::from(start),
                    usize::from(start) + usize::from(length),
                    reader.take(6, PART)?.to_vec(),
                ))
            })
            .collect::<Result<Vec<_>, ClassFileError>>()
    };
    let (before, after) = (read(old_class, a)?, read(new_class, b)?);
    Ok(before.len() == after.len()
        && before.iter().zip(&after).all(|(x, y)| {
            x.2 == y.2
                && alignment.belongs(new_code, old_code.at_or_after(x.0), y.0)
                && (x.0 == x.1 || alignment.belongs(new_code, old_code.at_or_after(x.1), y.1))
        }))
}
