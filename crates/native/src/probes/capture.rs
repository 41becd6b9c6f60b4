//! Converts locations of debug information to captures of the probe library.

use crate::events::params;
use gimli::Register;
use invigil_debuginfo::machine::{ARGUMENTS, XMM0};
use invigil_debuginfo::value::extract::{AccessPath, PathBase, ReadKind, ReadPlan};
use invigil_debuginfo::value::types::{Basic, Bits, Encoding};
use invigil_debuginfo::value::{Extractor, ScalarKind};
use invigil_monitor::event::{Param, ParamSource};
use invigil_probe::capture::{self, Builtin, Capture, CaptureKind};

/// How a probe reads a parameter. `None` if the debugger must read it.
pub(crate) fn capture(
    param: &Param,
    extractor: Option<&Extractor>,
    process: i32,
    start_time: u64,
) -> Option<Capture> {
    let Some(extractor) = extractor else {
        return Some(Capture::Builtin(match param.source {
            ParamSource::Thread => Builtin::Thread,
            ParamSource::Program => Builtin::Process(process.into()),
            ParamSource::Time => Builtin::Elapsed(start_time),
            _ => Builtin::Unavailable,
        }));
    };
    if !extractor.is_available() {
        return Some(Capture::Builtin(Builtin::Unavailable));
    }
    let (leaf, wanted) = extractor.read_plan()?;
    debug_assert_eq!(wanted, params::wanted(param.ty));
    Some(Capture::Read(path(leaf)?, sort(leaf, wanted)?))
}

/// How a probe reads a parameter at the exit of a call from an argument, given how it is read at the entry. With
/// `behind`, it is what an argument points to at the exit. `None` if the debugger must note and read it.
pub(crate) fn capture_argument(begin: u32, extractor: &Extractor, behind: bool) -> Option<Capture> {
    let (leaf, wanted) = extractor.read_plan()?;
    let argument = |register: Register| ARGUMENTS.iter().position(|known| *known == register);
    let path = match &leaf.path {
        AccessPath::Register { number, offset: 0 } => {
            capture::ValuePath::Argument(begin, argument(*number)? as u8)
        }
        AccessPath::Memory { base: PathBase::Register(number, by), steps } if behind => {
            let base = capture::PathBase::Argument(begin, argument(*number)? as u8, *by);
            capture::ValuePath::Memory(base, steps.clone())
        }
        _ => return None,
    };
    match sort(leaf, wanted)? {
        // A text has its value at the entry, too.
        CaptureKind::Text(_) | CaptureKind::TextPointer | CaptureKind::Address => None,
        sort => Some(Capture::Read(path, sort)),
    }
}

fn path(leaf: &ReadPlan) -> Option<capture::ValuePath> {
    Some(match &leaf.path {
        AccessPath::Register { number, offset } => {
            let after = u8::try_from(*offset).ok().filter(|after| *after < 16)?;
            match number.0.checked_sub(XMM0.0) {
                None if number.0 < 16 => capture::ValuePath::General(number.0 as u8, after),
                Some(vector) if vector < 16 => capture::ValuePath::Vector(vector as u8, after),
                _ => return None,
            }
        }
        AccessPath::Memory { base, steps } => {
            let base = match base {
                PathBase::Absolute(at) => capture::PathBase::Absolute(*at),
                PathBase::Register(number, by) if number.0 < 16 => {
                    capture::PathBase::Register(number.0 as u8, *by)
                }
                PathBase::Register(..) => return None,
                PathBase::Thread(by) => capture::PathBase::Thread(*by),
            };
            capture::ValuePath::Memory(base, steps.clone())
        }
    })
}

fn sort(leaf: &ReadPlan, wanted: ScalarKind) -> Option<CaptureKind> {
    match leaf.kind {
        ReadKind::Scalar(basic, bits) => scalar(&basic, bits, wanted),
        ReadKind::Address => matches!(wanted, ScalarKind::Any | ScalarKind::Int | ScalarKind::Address)
            .then_some(CaptureKind::Address),
        ReadKind::Text(most) if matches!(wanted, ScalarKind::Any | ScalarKind::Str) => {
            Some(CaptureKind::Text(u16::try_from(most).unwrap_or(u16::MAX)))
        }
        ReadKind::TextBehind if wanted == ScalarKind::Str => Some(CaptureKind::TextPointer),
        ReadKind::Text(_) | ReadKind::TextBehind => None,
    }
}

fn scalar(basic: &Basic, bits: Option<Bits>, wanted: ScalarKind) -> Option<CaptureKind> {
    let whole = (0, basic.size * 8);
    let (first, count) = bits.map_or(whole, |bits| (bits.first, bits.count));
    if !(1..=64).contains(&count) || first + count > 64 {
        return None;
    }
    let integer = |signed| CaptureKind::Integer { first: first as u8, count: count as u8, signed };
    let is_whole = (first, count) == whole;
    Some(match (basic.encoding, wanted) {
        (Encoding::Address, ScalarKind::Any | ScalarKind::Int | ScalarKind::Address) if count == 64 => {
            CaptureKind::Word
        }
        (Encoding::Signed | Encoding::Char { signed: true }, ScalarKind::Any | ScalarKind::Int) => {
            integer(true)
        }
        (
            Encoding::Unsigned | Encoding::Char { signed: false } | Encoding::Unicode,
            ScalarKind::Any | ScalarKind::Int,
        ) => integer(false),
        (Encoding::Bool, ScalarKind::Int) => integer(false),
        (Encoding::Bool, ScalarKind::Any | ScalarKind::Bool) if is_whole => CaptureKind::Bool(count as u8),
        (Encoding::Signed | Encoding::Unsigned | Encoding::Address, ScalarKind::Bool) if is_whole => {
            CaptureKind::Bool(count as u8)
        }
        (Encoding::Float, ScalarKind::Any | ScalarKind::Float) if is_whole && matches!(basic.size, 4 | 8) => {
            CaptureKind::Float(basic.size as u8)
        }
        _ => return None,
    })
}
