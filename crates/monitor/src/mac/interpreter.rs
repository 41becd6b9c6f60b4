//! Interpreter of the instructions of a MaC machine.

use super::cell::{Cell, CellStatus, TextBuffers, TextId};
use super::code::{Op, Opcode};
use super::show;
use super::value::Type;
use alloc::string::String;
use alloc::vec::Vec;

/// Maximum length in bytes of a concatenated string: a script that appends a string to itself must not exhaust memory.
const MAX_TEXT_LEN: usize = 1 << 16;

/// Runs instructions in order. Faults in the conditions of `start`, `end` and `when` are appended to `faults`.
#[inline]
pub(super) fn run(
    ops: &[Op],
    cells: &mut [Cell],
    texts: &mut TextBuffers,
    constants: &[String],
    faults: &mut Vec<CellStatus>,
) {
    /// Applies an operation to two known operands; otherwise propagates the reason why one is unknown.
    macro_rules! of_two {
        ($op:ident, $as:ident, |$a:ident, $b:ident| $result:expr) => {{
            let (left, right) = (cells[$op.a as usize], cells[$op.b as usize]);
            if left.is_known() && right.is_known() {
                let ($a, $b) = (left.$as(), right.$as());
                $result
            } else {
                Cell::unknown(left.status.max(right.status))
            }
        }};
    }
    macro_rules! of_one {
        ($op:ident, $as:ident, |$a:ident| $result:expr) => {{
            let operand = cells[$op.a as usize];
            if operand.is_known() {
                let $a = operand.$as();
                $result
            } else {
                operand
            }
        }};
    }
    macro_rules! int {
        ($op:ident, |$a:ident, $b:ident| $result:expr) => {
            of_two!($op, as_whole, |left, right| {
                let ($a, $b) = (left as i32, right as i32);
                Cell::whole($result.into())
            })
        };
    }
    macro_rules! long {
        ($op:ident, |$a:ident, $b:ident| $result:expr) => {
            of_two!($op, as_whole, |$a, $b| Cell::whole($result))
        };
    }
    /// Division: zero on the right side is a fault.
    macro_rules! divide {
        ($op:ident, $ty:ty, $method:ident) => {
            of_two!($op, as_whole, |a, b| match (a as $ty, b as $ty) {
                (_, 0) => Cell::unknown(CellStatus::DividedByZero),
                (a, b) => Cell::whole(a.$method(b).into()),
            })
        };
    }
    macro_rules! float {
        ($op:ident, |$a:ident, $b:ident| $result:expr) => {
            of_two!($op, as_floating, |left, right| {
                let ($a, $b) = (left as f32, right as f32);
                Cell::floating(f64::from($result))
            })
        };
    }
    macro_rules! double {
        ($op:ident, |$a:ident, $b:ident| $result:expr) => {
            of_two!($op, as_floating, |$a, $b| Cell::floating($result))
        };
    }
    macro_rules! compare {
        ($op:ident, $as:ident, |$a:ident, $b:ident| $result:expr) => {
            of_two!($op, $as, |$a, $b| Cell::from($result))
        };
    }
    for op in ops {
        let out = match op.code {
            Opcode::AddInt => int!(op, |a, b| a.wrapping_add(b)),
            Opcode::SubtractInt => int!(op, |a, b| a.wrapping_sub(b)),
            Opcode::MultiplyInt => int!(op, |a, b| a.wrapping_mul(b)),
            Opcode::DivideInt => divide!(op, i32, wrapping_div),
            Opcode::RemainderInt => divide!(op, i32, wrapping_rem),
            Opcode::MinusInt => of_one!(op, as_whole, |a| Cell::whole((a as i32).wrapping_neg().into())),
            Opcode::AddLong => long!(op, |a, b| a.wrapping_add(b)),
            Opcode::SubtractLong => long!(op, |a, b| a.wrapping_sub(b)),
            Opcode::MultiplyLong => long!(op, |a, b| a.wrapping_mul(b)),
            Opcode::DivideLong => divide!(op, i64, wrapping_div),
            Opcode::RemainderLong => divide!(op, i64, wrapping_rem),
            Opcode::MinusLong => of_one!(op, as_whole, |a| Cell::whole(a.wrapping_neg())),
            // Shifts use the low bits of the right side, as Java does.
            Opcode::ShiftLeftInt => int!(op, |a, b| a.wrapping_shl(b as u32)),
            Opcode::ShiftRightInt => int!(op, |a, b| a.wrapping_shr(b as u32)),
            Opcode::ShiftRightUnsignedInt => int!(op, |a, b| (a as u32).wrapping_shr(b as u32) as i32),
            Opcode::ShiftLeftLong => long!(op, |a, b| a.wrapping_shl(b as u32)),
            Opcode::ShiftRightLong => long!(op, |a, b| a.wrapping_shr(b as u32)),
            Opcode::ShiftRightUnsignedLong => long!(op, |a, b| (a as u64).wrapping_shr(b as u32) as i64),
            Opcode::Complement => of_one!(op, as_whole, |a| Cell::whole(!a)),
            Opcode::BitAnd => long!(op, |a, b| a & b),
            Opcode::BitXor => long!(op, |a, b| a ^ b),
            Opcode::BitOr => long!(op, |a, b| a | b),

            Opcode::AddFloat => float!(op, |a, b| a + b),
            Opcode::SubtractFloat => float!(op, |a, b| a - b),
            Opcode::MultiplyFloat => float!(op, |a, b| a * b),
            Opcode::DivideFloat => float!(op, |a, b| a / b),
            Opcode::RemainderFloat => float!(op, |a, b| a % b),
            Opcode::AddDouble => double!(op, |a, b| a + b),
            Opcode::SubtractDouble => double!(op, |a, b| a - b),
            Opcode::MultiplyDouble => double!(op, |a, b| a * b),
            Opcode::DivideDouble => double!(op, |a, b| a / b),
            Opcode::RemainderDouble => double!(op, |a, b| a % b),
            Opcode::MinusFloating => of_one!(op, as_floating, |a| Cell::floating(-a)),

            Opcode::ToByte => of_one!(op, as_whole, |a| Cell::whole((a as i8).into())),
            Opcode::ToChar => of_one!(op, as_whole, |a| Cell::whole((a as u16).into())),
            Opcode::ToShort => of_one!(op, as_whole, |a| Cell::whole((a as i16).into())),
            Opcode::ToInt => of_one!(op, as_whole, |a| Cell::whole((a as i32).into())),
            Opcode::WholeToFloat => of_one!(op, as_whole, |a| Cell::floating((a as f32).into())),
            Opcode::WholeToDouble => of_one!(op, as_whole, |a| Cell::floating(a as f64)),
            Opcode::DoubleToFloat => of_one!(op, as_floating, |a| Cell::floating((a as f32).into())),
            // Saturating conversions, as in Java.
            Opcode::FloatingToInt => of_one!(op, as_floating, |a| Cell::whole((a as i32).into())),
            Opcode::FloatingToLong => of_one!(op, as_floating, |a| Cell::whole(a as i64)),

            Opcode::LessWhole => compare!(op, as_whole, |a, b| a < b),
            Opcode::AtMostWhole => compare!(op, as_whole, |a, b| a <= b),
            Opcode::EqualWhole => compare!(op, as_whole, |a, b| a == b),
            Opcode::NotEqualWhole => compare!(op, as_whole, |a, b| a != b),
            Opcode::LessFloating => compare!(op, as_floating, |a, b| a < b),
            Opcode::AtMostFloating => compare!(op, as_floating, |a, b| a <= b),
            Opcode::EqualFloating => compare!(op, as_floating, |a, b| a == b),
            Opcode::NotEqualFloating => compare!(op, as_floating, |a, b| a != b),
            Opcode::EqualText | Opcode::NotEqualText => {
                let texts = texts.with(constants);
                let expected = op.code == Opcode::EqualText;
                compare!(op, as_text, |a, b| (texts.get(a) == texts.get(b)) == expected)
            }

            Opcode::Not => of_one!(op, holds, |a| Cell::from(!a)),
            Opcode::And => and(cells[op.a as usize], cells[op.b as usize]),
            Opcode::Or => or(cells[op.a as usize], cells[op.b as usize]),
            Opcode::Implies => or(not(cells[op.a as usize]), cells[op.b as usize]),
            Opcode::Choose => of_one!(op, holds, |a| cells[if a { op.b } else { op.c } as usize]),
            Opcode::Defined => Cell::from(cells[op.a as usize].is_known()),
            Opcode::Interval => match (cells[op.a as usize].holds(), cells[op.b as usize].holds()) {
                (_, true) => Cell::FALSE,
                (true, false) => Cell::TRUE,
                (false, false) => continue,
            },
            Opcode::Time | Opcode::Keep => {
                if !cells[op.a as usize].holds() {
                    continue;
                }
                cells[op.b as usize]
            }
            Opcode::KeepText => {
                if !cells[op.a as usize].holds() {
                    continue;
                }
                let (from, to) = (cells[op.b as usize], TextId::kept(op.c as usize));
                if from.is_known() {
                    texts.write(to, constants, |text, others| text.push_str(others.get(from.as_text())));
                    Cell::known(to.0)
                } else {
                    from
                }
            }
            Opcode::Start | Opcode::End => {
                let (now, before) = (cells[op.a as usize], cells[op.c as usize]);
                cells[op.c as usize] = now;
                if now.is_fault() && !before.is_fault() {
                    faults.push(now.status);
                }
                let is_start = op.code == Opcode::Start;
                Cell::from(now.holds() != before.holds() && now.holds() == is_start)
            }
            Opcode::Both => Cell::from(cells[op.a as usize].holds() && cells[op.b as usize].holds()),
            Opcode::Either => Cell::from(cells[op.a as usize].holds() || cells[op.b as usize].holds()),
            Opcode::When => {
                let (happens, condition) = (cells[op.a as usize].holds(), cells[op.b as usize]);
                if happens && condition.is_fault() {
                    faults.push(condition.status);
                }
                Cell::from(happens && condition.holds())
            }

            Opcode::Show => show_value(op, cells, texts, constants),
            Opcode::Join => join(op, cells, texts, constants),
        };
        cells[op.out as usize] = out;
    }
}

/// Runs an instruction that only depends on its operands.
pub(super) fn evaluate(code: Opcode, [a, b, c]: [Cell; 3], constants: &[String]) -> Cell {
    let mut cells = [a, b, c, Cell::UNDEFINED];
    let op = Op { code, out: 3, a: 0, b: 1, c: 2 };
    run(&[op], &mut cells, &mut TextBuffers::default(), constants, &mut Vec::new());
    cells[3]
}

fn not(a: Cell) -> Cell {
    if a.is_known() { Cell::from(a.bits == 0) } else { a }
}

/// Three-valued conjunction: false if one side is false, even if the other is unknown.
fn and(a: Cell, b: Cell) -> Cell {
    if a == Cell::FALSE || b == Cell::FALSE {
        return Cell::FALSE;
    }
    match a.status.max(b.status) {
        CellStatus::Known => Cell::TRUE,
        reason => Cell::unknown(reason),
    }
}

/// Three-valued disjunction: true if one side is true, even if the other is unknown.
fn or(a: Cell, b: Cell) -> Cell {
    if a == Cell::TRUE || b == Cell::TRUE {
        return Cell::TRUE;
    }
    match a.status.max(b.status) {
        CellStatus::Known => Cell::FALSE,
        reason => Cell::unknown(reason),
    }
}

/// Converts the value in `a`, of the type with index `b`, to a string.
fn show_value(op: &Op, cells: &[Cell], texts: &mut TextBuffers, constants: &[String]) -> Cell {
    let cell = cells[op.a as usize];
    let (Some(ty), false) = (Type::ALL.get(op.b as usize), cell.is_fault()) else { return cell };
    let to = TextId::scratch(op.c as usize);
    texts.write(to, constants, |text, others| show::show(text, cell.value(*ty, &others)));
    Cell::known(to.0)
}

/// Concatenates the strings in `a` and `b`; an undefined one is written as `undefined`.
fn join(op: &Op, cells: &[Cell], texts: &mut TextBuffers, constants: &[String]) -> Cell {
    let (left, right) = (cells[op.a as usize], cells[op.b as usize]);
    if left.is_fault() || right.is_fault() {
        return Cell::unknown(left.status.max(right.status));
    }
    let to = TextId::scratch(op.c as usize);
    let mut fits = true;
    texts.write(to, constants, |text, others| {
        for side in [left, right] {
            let part = if side.is_known() { others.get(side.as_text()) } else { "undefined" };
            fits &= text.len() + part.len() <= MAX_TEXT_LEN;
            if fits {
                text.push_str(part);
            }
        }
    });
    if fits { Cell::known(to.0) } else { Cell::unknown(CellStatus::TextTooLong) }
}
