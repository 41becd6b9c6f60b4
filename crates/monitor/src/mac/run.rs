//! Execution of instructions.

use super::cell::{Cell, Owned, State, TextId};
use super::code::{Code, Op};
use super::show;
use super::value::Type;
use alloc::string::String;
use alloc::vec::Vec;

/// Maximum length of a concatenated string, so that a variable that doubles cannot exhaust memory.
const LONGEST_TEXT: usize = 1 << 16;

/// Runs instructions in order. Faults that decide whether an event occurs are added to `faults`.
#[inline]
pub(super) fn run(
    ops: &[Op],
    cells: &mut [Cell],
    texts: &mut Owned,
    constants: &[String],
    faults: &mut Vec<State>,
) {
    /// Applies an operation to two known operands; otherwise propagates the reason why one is unknown.
    macro_rules! of_two {
        ($op:ident, $as:ident, |$a:ident, $b:ident| $result:expr) => {{
            let (left, right) = (cells[$op.a as usize], cells[$op.b as usize]);
            if left.is_known() && right.is_known() {
                let ($a, $b) = (left.$as(), right.$as());
                $result
            } else {
                Cell::without(left.state.max(right.state))
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
        ($op:ident, $ty:ty, $how:ident) => {
            of_two!($op, as_whole, |a, b| match (a as $ty, b as $ty) {
                (_, 0) => Cell::without(State::DividedByZero),
                (a, b) => Cell::whole(a.$how(b).into()),
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
            Code::AddInt => int!(op, |a, b| a.wrapping_add(b)),
            Code::SubtractInt => int!(op, |a, b| a.wrapping_sub(b)),
            Code::MultiplyInt => int!(op, |a, b| a.wrapping_mul(b)),
            Code::DivideInt => divide!(op, i32, wrapping_div),
            Code::RemainderInt => divide!(op, i32, wrapping_rem),
            Code::MinusInt => of_one!(op, as_whole, |a| Cell::whole((a as i32).wrapping_neg().into())),
            Code::AddLong => long!(op, |a, b| a.wrapping_add(b)),
            Code::SubtractLong => long!(op, |a, b| a.wrapping_sub(b)),
            Code::MultiplyLong => long!(op, |a, b| a.wrapping_mul(b)),
            Code::DivideLong => divide!(op, i64, wrapping_div),
            Code::RemainderLong => divide!(op, i64, wrapping_rem),
            Code::MinusLong => of_one!(op, as_whole, |a| Cell::whole(a.wrapping_neg())),
            // Shifts use the low bits of the right side, as Java does.
            Code::ShiftLeftInt => int!(op, |a, b| a.wrapping_shl(b as u32)),
            Code::ShiftRightInt => int!(op, |a, b| a.wrapping_shr(b as u32)),
            Code::ShiftRightUnsignedInt => int!(op, |a, b| (a as u32).wrapping_shr(b as u32) as i32),
            Code::ShiftLeftLong => long!(op, |a, b| a.wrapping_shl(b as u32)),
            Code::ShiftRightLong => long!(op, |a, b| a.wrapping_shr(b as u32)),
            Code::ShiftRightUnsignedLong => long!(op, |a, b| (a as u64).wrapping_shr(b as u32) as i64),
            Code::Complement => of_one!(op, as_whole, |a| Cell::whole(!a)),
            Code::BitAnd => long!(op, |a, b| a & b),
            Code::BitXor => long!(op, |a, b| a ^ b),
            Code::BitOr => long!(op, |a, b| a | b),

            Code::AddFloat => float!(op, |a, b| a + b),
            Code::SubtractFloat => float!(op, |a, b| a - b),
            Code::MultiplyFloat => float!(op, |a, b| a * b),
            Code::DivideFloat => float!(op, |a, b| a / b),
            Code::RemainderFloat => float!(op, |a, b| a % b),
            Code::AddDouble => double!(op, |a, b| a + b),
            Code::SubtractDouble => double!(op, |a, b| a - b),
            Code::MultiplyDouble => double!(op, |a, b| a * b),
            Code::DivideDouble => double!(op, |a, b| a / b),
            Code::RemainderDouble => double!(op, |a, b| a % b),
            Code::MinusFloating => of_one!(op, as_floating, |a| Cell::floating(-a)),

            Code::ToByte => of_one!(op, as_whole, |a| Cell::whole((a as i8).into())),
            Code::ToChar => of_one!(op, as_whole, |a| Cell::whole((a as u16).into())),
            Code::ToShort => of_one!(op, as_whole, |a| Cell::whole((a as i16).into())),
            Code::ToInt => of_one!(op, as_whole, |a| Cell::whole((a as i32).into())),
            Code::WholeToFloat => of_one!(op, as_whole, |a| Cell::floating((a as f32).into())),
            Code::WholeToDouble => of_one!(op, as_whole, |a| Cell::floating(a as f64)),
            Code::DoubleToFloat => of_one!(op, as_floating, |a| Cell::floating((a as f32).into())),
            // Saturating conversions, as in Java.
            Code::FloatingToInt => of_one!(op, as_floating, |a| Cell::whole((a as i32).into())),
            Code::FloatingToLong => of_one!(op, as_floating, |a| Cell::whole(a as i64)),

            Code::LessWhole => compare!(op, as_whole, |a, b| a < b),
            Code::AtMostWhole => compare!(op, as_whole, |a, b| a <= b),
            Code::EqualWhole => compare!(op, as_whole, |a, b| a == b),
            Code::NotEqualWhole => compare!(op, as_whole, |a, b| a != b),
            Code::LessFloating => compare!(op, as_floating, |a, b| a < b),
            Code::AtMostFloating => compare!(op, as_floating, |a, b| a <= b),
            Code::EqualFloating => compare!(op, as_floating, |a, b| a == b),
            Code::NotEqualFloating => compare!(op, as_floating, |a, b| a != b),
            Code::EqualText | Code::NotEqualText => {
                let texts = texts.with(constants);
                let wanted = op.code == Code::EqualText;
                compare!(op, as_text, |a, b| (texts.get(a) == texts.get(b)) == wanted)
            }

            Code::Not => of_one!(op, holds, |a| Cell::from(!a)),
            Code::And => and(cells[op.a as usize], cells[op.b as usize]),
            Code::Or => or(cells[op.a as usize], cells[op.b as usize]),
            Code::Implies => or(not(cells[op.a as usize]), cells[op.b as usize]),
            Code::Choose => of_one!(op, holds, |a| cells[if a { op.b } else { op.c } as usize]),
            Code::Defined => Cell::from(cells[op.a as usize].is_known()),
            Code::Interval => match (cells[op.a as usize].holds(), cells[op.b as usize].holds()) {
                (_, true) => Cell::FALSE,
                (true, false) => Cell::TRUE,
                (false, false) => continue,
            },
            Code::Time | Code::Keep => {
                if !cells[op.a as usize].holds() {
                    continue;
                }
                cells[op.b as usize]
            }
            Code::KeepText => {
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
            Code::Start | Code::End => {
                let (now, before) = (cells[op.a as usize], cells[op.c as usize]);
                cells[op.c as usize] = now;
                if now.is_fault() && !before.is_fault() {
                    faults.push(now.state);
                }
                let wanted = op.code == Code::Start;
                Cell::from(now.holds() != before.holds() && now.holds() == wanted)
            }
            Code::Both => Cell::from(cells[op.a as usize].holds() && cells[op.b as usize].holds()),
            Code::Either => Cell::from(cells[op.a as usize].holds() || cells[op.b as usize].holds()),
            Code::When => {
                let (happens, condition) = (cells[op.a as usize].holds(), cells[op.b as usize]);
                if happens && condition.is_fault() {
                    faults.push(condition.state);
                }
                Cell::from(happens && condition.holds())
            }

            Code::Show => show_value(op, cells, texts, constants),
            Code::Join => join(op, cells, texts, constants),
        };
        cells[op.out as usize] = out;
    }
}

/// Runs an instruction that only depends on its operands.
pub(super) fn once(code: Code, [a, b, c]: [Cell; 3], constants: &[String]) -> Cell {
    let mut cells = [a, b, c, Cell::UNDEFINED];
    let op = Op { code, out: 3, a: 0, b: 1, c: 2 };
    run(&[op], &mut cells, &mut Owned::default(), constants, &mut Vec::new());
    cells[3]
}

fn not(a: Cell) -> Cell {
    if a.is_known() { Cell::from(a.bits == 0) } else { a }
}

/// False if one side is false.
fn and(a: Cell, b: Cell) -> Cell {
    if a == Cell::FALSE || b == Cell::FALSE {
        return Cell::FALSE;
    }
    match a.state.max(b.state) {
        State::Known => Cell::TRUE,
        reason => Cell::without(reason),
    }
}

/// True if one side is true.
fn or(a: Cell, b: Cell) -> Cell {
    if a == Cell::TRUE || b == Cell::TRUE {
        return Cell::TRUE;
    }
    match a.state.max(b.state) {
        State::Known => Cell::FALSE,
        reason => Cell::without(reason),
    }
}

/// Converts the value in `a`, of the type with index `b`, to a string.
fn show_value(op: &Op, cells: &[Cell], texts: &mut Owned, constants: &[String]) -> Cell {
    let cell = cells[op.a as usize];
    let (Some(ty), false) = (Type::ALL.get(op.b as usize), cell.is_fault()) else { return cell };
    let to = TextId::scratch(op.c as usize);
    texts.write(to, constants, |text, others| show::show(text, cell.value(*ty, &others)));
    Cell::known(to.0)
}

/// Concatenates the strings in `a` and `b`; an undefined one is written as `undefined`.
fn join(op: &Op, cells: &[Cell], texts: &mut Owned, constants: &[String]) -> Cell {
    let (left, right) = (cells[op.a as usize], cells[op.b as usize]);
    if left.is_fault() || right.is_fault() {
        return Cell::without(left.state.max(right.state));
    }
    let to = TextId::scratch(op.c as usize);
    let mut fits = true;
    texts.write(to, constants, |text, others| {
        for side in [left, right] {
            let part = if side.is_known() { others.get(side.as_text()) } else { "undefined" };
            fits &= text.len() + part.len() <= LONGEST_TEXT;
            if fits {
                text.push_str(part);
            }
        }
    });
    if fits { Cell::known(to.0) } else { Cell::without(State::TextTooLong) }
}
