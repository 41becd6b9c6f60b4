//! Comparison of the tables of a method.

use super::align::{Alignment, Exit};
use super::{Reason, same_content};
use crate::bytes::Reader;
use crate::code::{Code, Handler};
use crate::error::ClassFileError;
use crate::raw::{Attribute, ClassFileParts};

/// Checks that the original handlers are present in order. Others may only release the lock or report uncaught
/// exceptions.
pub(crate) fn handlers(was: &Code<'_>, is: &Code<'_>, found: &Alignment) -> Result<(), Reason> {
    let at = |place: u16| was.find(place.into()).ok_or_else(|| "a handler has an invalid offset".to_owned());
    let mut old = was.handlers.iter().peekable();
    let mut seen = 0;
    let mut locked: Vec<(Handler, Exit)> = Vec::new();
    for new in &is.handlers {
        let next = old.peek().copied();
        if let Some(next) = next {
            let belongs = |old: u16, new: u16| Ok::<_, Reason>(found.belongs(is, at(old)?, new.into()));
            if next.catches == new.catches
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
        if let Some(&exit) = found.exits.get(&handler)
            && seen == 0
        {
            locked.push((*new, exit));
        } else if found.handler != Some(handler) || next.is_some() || new.catches != 0 {
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
        let (group, behind) = rest.split_at(length);
        exits(was, is, found, group)?;
        rest = behind;
    }
    Ok(())
}

/// Checks that the exit paths of a locked write lead exactly to its original handlers, in order.
fn exits(was: &Code<'_>, is: &Code<'_>, found: &Alignment, group: &[(Handler, Exit)]) -> Result<(), Reason> {
    let wrong = || "an exception at a locked write has a different target".to_owned();
    let start = group.first().map_or(0, |(handler, _)| usize::from(handler.start));
    let new = is.find(start).ok_or_else(wrong)?;
    let pc = was.pc(found.new.binary_search(&new).map_err(|_| wrong())?);
    let around = was.handlers.iter().filter(|h| (usize::from(h.start)..usize::from(h.end)).contains(&pc));
    let mut group = group.iter();
    for old in around {
        let (new, exit) = group.next().ok_or_else(wrong)?;
        let goes = was.find(old.handler.into()).zip(match exit {
            Exit::To(place) => Some(*place),
            Exit::Out => None,
        });
        let right = goes.is_some_and(|(old, place)| found.belongs(is, old, place));
        if !right || old.catches != new.catches {
            return Err(wrong());
        }
        if old.catches == 0 {
            return if group.next().is_none() { Ok(()) } else { Err(wrong()) };
        }
    }
    match (group.next(), group.next()) {
        (Some((new, Exit::Out)), None) if new.catches == 0 => Ok(()),
        _ => Err(wrong()),
    }
}

/// Checks that the attributes of the code are present in order, with the same contents for the original instructions.
/// Frames may differ.
pub(crate) fn attributes(
    old: &ClassFileParts<'_>,
    was: &Code<'_>,
    new: &ClassFileParts<'_>,
    is: &Code<'_>,
    found: &Alignment,
) -> Result<(), Reason> {
    let is_frames = |raw: &ClassFileParts<'_>, attribute: &Attribute| {
        raw.pool.raw(attribute.name) == Some(b"StackMapTable")
    };
    let rest = |raw: &ClassFileParts<'_>, code: &Code<'_>| {
        code.attributes.iter().filter(|attribute| !is_frames(raw, attribute)).copied().collect::<Vec<_>>()
    };
    let (before, after) = (rest(old, was), rest(new, is));
    let had_frames = was.attributes.len() > before.len();
    let has_frames = is.attributes.len() > after.len();
    if before.len() != after.len() || (had_frames && !has_frames) {
        return Err("an attribute of its code is missing, or was added".to_owned());
    }
    for (a, b) in before.iter().zip(&after) {
        let name = old.pool.raw(a.name);
        let same = a.name == b.name
            && match name {
                Some(b"LineNumberTable") => lines(old, was, a, new, is, b, found),
                Some(b"LocalVariableTable" | b"LocalVariableTypeTable") => {
                    variables(old, was, a, new, is, b, found)
                }
                Some(b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations") => {
                    Ok(a.end - a.start == b.end - b.start)
                }
                _ => Ok(same_content(old, a, new, b)),
            }
            .map_err(|error: ClassFileError| error.to_string())?;
        if !same {
            let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
            return Err(format!("its {name} changed"));
        }
    }
    Ok(())
}

fn lines(
    old: &ClassFileParts<'_>,
    was: &Code<'_>,
    a: &Attribute,
    new: &ClassFileParts<'_>,
    is: &Code<'_>,
    b: &Attribute,
    found: &Alignment,
) -> Result<bool, ClassFileError> {
    let (before, after) = (crate::class::lines(old, *a)?, crate::class::lines(new, *b)?);
    Ok(before.len() == after.len()
        && before
            .iter()
            .zip(&after)
            .all(|(x, y)| x.line == y.line && found.belongs(is, was.at_or_after(x.pc.into()), y.pc.into())))
}

fn variables(
    old: &ClassFileParts<'_>,
    was: &Code<'_>,
    a: &Attribute,
    new: &ClassFileParts<'_>,
    is: &Code<'_>,
    b: &Attribute,
    found: &Alignment,
) -> Result<bool, ClassFileError> {
    const WHAT: &str = "the local variable table";
    let read = |raw: &ClassFileParts<'_>, attribute: &Attribute| {
        let mut reader = Reader::part(raw.bytes, attribute.start, attribute.end);
        let count = reader.u2(WHAT)?;
        (0..count)
            .map(|_| {
                let (start, length) = (reader.u2(WHAT)?, reader.u2(WHAT)?);
                Ok((
                    usize::from(start),
                    usize::from(start) + usize::from(length),
                    reader.take(6, WHAT)?.to_vec(),
                ))
            })
            .collect::<Result<Vec<_>, ClassFileError>>()
    };
    let (before, after) = (read(old, a)?, read(new, b)?);
    Ok(before.len() == after.len()
        && before.iter().zip(&after).all(|(x, y)| {
            x.2 == y.2
                && found.belongs(is, was.at_or_after(x.0), y.0)
                && (x.0 == x.1 || found.belongs(is, was.at_or_after(x.1), y.1))
        }))
}
