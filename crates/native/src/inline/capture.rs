//! From what debug information says of a value to the few loads that a probe does.

use crate::events::params;
use gimli::Register;
use invigil_debuginfo::machine::{ARGUMENTS, XMM0};
use invigil_debuginfo::value::extract::{Base, Leaf, LeafKind, Path};
use invigil_debuginfo::value::types::{Basic, Bits, Encoding};
use invigil_debuginfo::value::{Extractor, Wanted};
use invigil_monitor::event::{Param, Source};
use invigil_probe::capture::{self, Capture, Known, Sort};

/// How a probe gets a parameter; `None` if the tool must read it.
pub(crate) fn capture(
    param: &Param,
    extractor: Option<&Extractor>,
    process: i32,
    begun: u64,
) -> Option<Capture> {
    let Some(extractor) = extractor else {
        return Some(Capture::Known(match param.source {
            Source::Thread => Known::Thread,
            Source::Program => Known::Process(process.into()),
            Source::Time => Known::Seconds(begun),
            _ => Known::Nothing,
        }));
    };
    if !extractor.is_available() {
        return Some(Capture::Known(Known::Nothing));
    }
    let (leaf, wanted) = extractor.leaf()?;
    debug_assert_eq!(wanted, params::wanted(param.ty));
    Some(Capture::Read(path(leaf)?, sort(leaf, wanted)?))
}

/// How a probe gets a parameter at the end of a call from what was passed to it, by how it is read at the begin; `behind` if
/// that is what an argument points to when the call ends. `None` if the tool must note and read it.
pub(crate) fn passed(begin: u32, extractor: &Extractor, behind: bool) -> Option<Capture> {
    let (leaf, wanted) = extractor.leaf()?;
    let argument = |register: Register| ARGUMENTS.iter().position(|known| *known == register);
    let path = match &leaf.path {
        Path::Register { number, offset: 0 } => capture::Path::Passed(begin, argument(*number)? as u8),
        Path::Memory { base: Base::Register(number, by), steps } if behind => {
            let base = capture::Base::Passed(begin, argument(*number)? as u8, *by);
            capture::Path::Memory(base, steps.clone())
        }
        _ => return None,
    };
    match sort(leaf, wanted)? {
        // A text, too, is what it was at the begin.
        Sort::Text(_) | Sort::TextBehind | Sort::Place => None,
        sort => Some(Capture::Read(path, sort)),
    }
}

fn path(leaf: &Leaf) -> Option<capture::Path> {
    Some(match &leaf.path {
        Path::Register { number, offset } => {
            let after = u8::try_from(*offset).ok().filter(|after| *after < 16)?;
            match number.0.checked_sub(XMM0.0) {
                None if number.0 < 16 => capture::Path::General(number.0 as u8, after),
                Some(vector) if vector < 16 => capture::Path::Vector(vector as u8, after),
                _ => return None,
            }
        }
        Path::Memory { base, steps } => {
            let base = match base {
                Base::Absolute(at) => capture::Base::Absolute(*at),
                Base::Register(number, by) if number.0 < 16 => capture::Base::Register(number.0 as u8, *by),
                Base::Register(..) => return None,
                Base::Thread(by) => capture::Base::Thread(*by),
            };
            capture::Path::Memory(base, steps.clone())
        }
    })
}

fn sort(leaf: &Leaf, wanted: Wanted) -> Option<Sort> {
    match leaf.kind {
        LeafKind::Scalar(basic, bits) => scalar(&basic, bits, wanted),
        LeafKind::Address => {
            matches!(wanted, Wanted::Any | Wanted::Int | Wanted::Address).then_some(Sort::Place)
        }
        LeafKind::Text(most) if matches!(wanted, Wanted::Any | Wanted::Str) => {
            Some(Sort::Text(u16::try_from(most).unwrap_or(u16::MAX)))
        }
        LeafKind::TextBehind if wanted == Wanted::Str => Some(Sort::TextBehind),
        LeafKind::Text(_) | LeafKind::TextBehind => None,
    }
}

fn scalar(basic: &Basic, bits: Option<Bits>, wanted: Wanted) -> Option<Sort> {
    let whole = (0, basic.size * 8);
    let (first, count) = bits.map_or(whole, |bits| (bits.first, bits.count));
    if !(1..=64).contains(&count) || first + count > 64 {
        return None;
    }
    let integer = |signed| Sort::Integer { first: first as u8, count: count as u8, signed };
    let is_whole = (first, count) == whole;
    Some(match (basic.encoding, wanted) {
        (Encoding::Address, Wanted::Any | Wanted::Int | Wanted::Address) if count == 64 => Sort::Word,
        (Encoding::Signed | Encoding::Char { signed: true }, Wanted::Any | Wanted::Int) => integer(true),
        (
            Encoding::Unsigned | Encoding::Char { signed: false } | Encoding::Unicode,
            Wanted::Any | Wanted::Int,
        ) => integer(false),
        (Encoding::Bool, Wanted::Int) => integer(false),
        (Encoding::Bool, Wanted::Any | Wanted::Bool) if is_whole => Sort::Truth(count as u8),
        (Encoding::Signed | Encoding::Unsigned | Encoding::Address, Wanted::Bool) if is_whole => {
            Sort::Truth(count as u8)
        }
        (Encoding::Float, Wanted::Any | Wanted::Float) if is_whole && matches!(basic.size, 4 | 8) => {
            Sort::Float(basic.size as u8)
        }
        _ => return None,
    })
}
