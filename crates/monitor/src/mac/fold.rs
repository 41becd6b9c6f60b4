//! Java's operators: lowering to instructions, and constant folding.

use super::cell::Cell;
use super::code::{self, Opcode};
use super::ids::ExprId;
use super::interpreter;
use super::operator::Binary;
use super::script_def::{Expr, ScriptDef};
use super::value::Type;
use super::walk::{Node, children};
use alloc::vec::Vec;

/// Translates an operator to instructions, passed to `emit`; `None` if the expression is not an operator.
pub(super) fn compute<T: Copy>(
    script: &ScriptDef,
    id: ExprId,
    operand: impl Fn(ExprId) -> T,
    mut emit: impl FnMut(Opcode, [T; 3]) -> T,
) -> Option<T> {
    let ty = |id: ExprId| script.exprs[id.at()].1;
    let converted = |value: T, from: Type, to: Type, emit: &mut dyn FnMut(Opcode, [T; 3]) -> T| {
        code::convert(from, to).iter().fold(value, |value, code| emit(*code, [value; 3]))
    };
    Some(match script.exprs[id.at()].0 {
        Expr::Unary(operator, a) => {
            let value = converted(operand(a), ty(a), ty(id), &mut emit);
            code::unary(operator, ty(a)).map_or(value, |code| emit(code, [value; 3]))
        }
        Expr::Cast(a) => converted(operand(a), ty(a), ty(id), &mut emit),
        Expr::Binary(Binary::Add, _, _) if ty(id) == Type::String => return None,
        Expr::Binary(operator, a, b) => {
            let instruction = code::binary(operator, ty(a), ty(b));
            let left = converted(operand(a), ty(a), instruction.operands.0, &mut emit);
            let right = converted(operand(b), ty(b), instruction.operands.1, &mut emit);
            let (left, right) = if instruction.swapped { (right, left) } else { (left, right) };
            emit(instruction.code, [left, right, right])
        }
        Expr::Choose(a, b, c) => emit(Opcode::Choose, [operand(a), operand(b), operand(c)]),
        Expr::Defined(a) => emit(Opcode::Defined, [operand(a); 3]),
        _ => return None,
    })
}

/// The values of all constant expressions; of strings, only literals.
pub(super) fn constants(script: &ScriptDef) -> Vec<Option<Cell>> {
    let mut values: Vec<Option<Cell>> = Vec::with_capacity(script.exprs.len());
    for at in 0..script.exprs.len() {
        let id = ExprId(at as u32);
        let value = match script.exprs[at] {
            (Expr::Undefined, _) => Some(Cell::UNDEFINED),
            (Expr::Constant(bits), ty) => Some(Cell::constant(bits, ty)),
            _ => {
                let is_constant = |node: &Node| matches!(node, Node::Expr(id) if values[id.at()].is_some());
                let operands = children(script, Node::Expr(id));
                if operands.iter().flatten().all(is_constant) && operands[0].is_some() {
                    let operand = |id: ExprId| values[id.at()].unwrap_or(Cell::UNDEFINED);
                    compute(script, id, operand, |code, operands| {
                        interpreter::evaluate(code, operands, &script.texts)
                    })
                } else {
                    None
                }
            }
        };
        values.push(value);
    }
    values
}
