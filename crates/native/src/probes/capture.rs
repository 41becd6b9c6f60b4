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
    let (plan, scalar_kind) = extractor.read_plan()?;
    debug_assert_eq!(scalar_kind, params::scalar_kind(param.ty));
    Some(Capture::Read(value_path(plan)?, capture_kind(plan, scalar_kind)?))
}

/// How a probe at the exit of a call reads a parameter from an argument, given how it is read at the entry. If
/// `is_pointee` is set, it reads what the argument points to at the exit. `None` if the debugger must save and read it.
pub(crate) fn capture_argument(entry_site: u32, extractor: &Extractor, is_pointee: bool) -> Option<Capture> {
    let (plan, scalar_kind) = extractor.read_plan()?;
    let argument = |register: Register| ARGUMENTS.iter().position(|argument| *argument == register);
    let path = match &plan.path {
        AccessPath::Register { number, offset: 0 } => {
            capture::ValuePath::Argument { entry_site, argument: argument(*number)? as u8 }
        }
        AccessPath::Memory { base: PathBase::Register(number, offset), steps } if is_pointee => {
            let argument = argument(*number)? as u8;
            let base = capture::PathBase::Argument { entry_site, argument, offset: *offset };
            capture::ValuePath::Memory(base, steps.clone())
        }
        _ => return None,
    };
    match capture_kind(plan, scalar_kind)? {
        // A text also has its value at the entry, where only the argument registers are saved.
        CaptureKind::Text(_) | CaptureKind::TextPointer | CaptureKind::Address => None,
        kind => Some(Capture::Read(path, kind)),
    }
}

fn value_path(plan: &ReadPlan) -> Option<capture::ValuePath> {
    Some(match &plan.path {
        AccessPath::Register { number, offset } => {
            let first_byte = u8::try_from(*offset).ok().filter(|first_byte| *first_byte < 16)?;
            match number.0.checked_sub(XMM0.0) {
                None if number.0 < 16 => capture::ValuePath::General { register: number.0 as u8, first_byte },
                Some(vector) if vector < 16 => {
                    capture::ValuePath::Vector { register: vector as u8, first_byte }
                }
                _ => return None,
            }
        }
        AccessPath::Memory { base, steps } => {
            let base = match base {
                PathBase::Absolute(at) => capture::PathBase::Absolute(*at),
                PathBase::Register(number, offset) if number.0 < 16 => {
                    capture::PathBase::Register(number.0 as u8, *offset)
                }
                PathBase::Register(..) => return None,
                PathBase::ThreadLocal(offset) => capture::PathBase::ThreadLocal(*offset),
            };
            capture::ValuePath::Memory(base, steps.clone())
        }
    })
}

fn capture_kind(plan: &ReadPlan, scalar_kind: ScalarKind) -> Option<CaptureKind> {
    match plan.kind {
        ReadKind::Scalar(basic, bits) => scalar_capture(&basic, bits, scalar_kind),
        ReadKind::Address => matches!(scalar_kind, ScalarKind::Any | ScalarKind::Int | ScalarKind::Address)
            .then_some(CaptureKind::Address),
        ReadKind::Text(most) if matches!(scalar_kind, ScalarKind::Any | ScalarKind::Str) => {
            Some(CaptureKind::Text(u16::try_from(most).unwrap_or(u16::MAX)))
        }
        ReadKind::TextPointer if scalar_kind == ScalarKind::Str => Some(CaptureKind::TextPointer),
        ReadKind::Text(_) | ReadKind::TextPointer => None,
    }
}

fn scalar_capture(basic: &Basic, bits: Option<Bits>, scalar_kind: ScalarKind) -> Option<CaptureKind> {
    let whole = (0, basic.size * 8);
    let (first, count) = bits.map_or(whole, |bits| (bits.first, bits.count));
    if !(1..=64).contains(&count) || first + count > 64 {
        return None;
    }
    let integer = |signed| CaptureKind::Integer { first: first as u8, count: count as u8, signed };
    let is_whole = (first, count) == whole;
    Some(match (basic.encoding, scalar_kind) {
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
