//! Parameters of events: from declarations to values.

use crate::native_target::registers;
use crate::sys::{self, Tid};
use invigil_debuginfo::machine::Registers;
use invigil_debuginfo::program::{Function, Program};
use invigil_debuginfo::value::{
    Expression, ExpressionError, Extractor, RegisterNeeds, Scalar, ScalarKind, TypeIndex as Types,
    ValueRequest,
};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventBatch, ParamSource, ParamType};

pub(crate) fn wanted(ty: Option<ParamType>) -> ScalarKind {
    match ty {
        None => ScalarKind::Any,
        Some(ParamType::Int) => ScalarKind::Int,
        Some(ParamType::Float) => ScalarKind::Float,
        Some(ParamType::Bool) => ScalarKind::Bool,
        Some(ParamType::Str) => ScalarKind::Str,
    }
}

/// Converts the source of a parameter for debug information. `None` for values that the debugger knows itself.
pub(crate) fn form(source: &ParamSource) -> Option<Result<ValueRequest, ExpressionError>> {
    match source {
        ParamSource::Program | ParamSource::Thread | ParamSource::Time => None,
        ParamSource::Arg(i) => Some(Ok(ValueRequest::Argument(*i as usize))),
        ParamSource::Ret => Some(Ok(ValueRequest::Returned)),
        source => Some(Expression::parse(&expression(source)).map(ValueRequest::Expression)),
    }
}

/// Writes a parameter as an expression.
pub(super) fn expression(source: &ParamSource) -> String {
    match source {
        ParamSource::Name(name) => name.clone(),
        ParamSource::Expression(text) => format!("({text})"),
        ParamSource::Arg(i) => format!("$arg{i}"),
        ParamSource::Deref(of) => format!("*{}", expression(of)),
        ParamSource::Address(of) => format!("&{}", expression(of)),
        ParamSource::Outer(of) => format!("^{}", expression(of)),
        // The return value is in a register.
        ParamSource::Ret => "(char **) $rax".to_owned(),
        ParamSource::Program | ParamSource::Thread | ParamSource::Time => source.to_string(),
    }
}

/// Whether a parameter is an argument by its position.
pub(super) fn is_argument(source: &ParamSource) -> bool {
    match source {
        ParamSource::Arg(_) => true,
        ParamSource::Deref(of) | ParamSource::Address(of) => is_argument(of),
        _ => false,
    }
}

/// Whether a parameter is what an argument points to. At a function's exit it is read through the argument passed at
/// the entry.
pub(crate) fn is_behind_argument(source: &ParamSource) -> bool {
    matches!(source, ParamSource::Deref(of) if is_argument(of))
}

/// Converts a value for the monitors. Long text goes to the batch.
pub(super) fn value(plain: &Scalar, ty: Option<ParamType>, batch: &mut EventBatch) -> Value {
    match (plain, ty) {
        (Scalar::Int(i), None | Some(ParamType::Int)) => Value::int(*i),
        (Scalar::Int(i), Some(ParamType::Float)) => Value::float(*i as f64),
        (Scalar::Int(i), Some(ParamType::Bool)) => Value::bool(*i != 0),
        (Scalar::Float(f), None | Some(ParamType::Float)) => Value::float(*f),
        (Scalar::Bool(b), None | Some(ParamType::Bool)) => Value::bool(*b),
        (Scalar::Bool(b), Some(ParamType::Int)) => Value::int(i64::from(*b)),
        (Scalar::Str(text), None | Some(ParamType::Str)) => text_value(text, batch),
        _ => Value::UNSET,
    }
}

pub(super) fn text_value(text: &str, batch: &mut EventBatch) -> Value {
    Value::short(text).unwrap_or_else(|| {
        let start = batch.text.len() as u32;
        batch.text.push_str(text);
        Value::text(start, text.len() as u32)
    })
}

/// Value of a parameter that the debugger knows itself.
pub(super) fn builtin_value(source: &ParamSource, tid: Tid, process: Tid, time: f64) -> Value {
    match source {
        ParamSource::Thread => Value::int(tid.into()),
        ParamSource::Program => Value::int(process.into()),
        ParamSource::Time => Value::float(time),
        _ => Value::UNSET,
    }
}

/// The needed registers, by DWARF number.
pub(crate) fn fetch_registers(tid: Tid, regs: &sys::Regs, needs: RegisterNeeds) -> Registers {
    let mut read = registers(regs);
    if needs == RegisterNeeds::Vector {
        read.set_vectors(sys::vector_registers(tid).ok());
    }
    read
}

/// Prepares the read of a parameter. Outside of functions only globals are visible.
pub(super) fn compile(
    program: &Program,
    types: &Types,
    function: Option<&Function>,
    address: u64,
    form: &ValueRequest,
    wanted: ScalarKind,
) -> Result<Extractor, ExpressionError> {
    match function.cloned().or_else(|| program.function_at(address)) {
        Some(function) => Extractor::compile(program, types, &function, address, form, wanted),
        None => Err(ExpressionError {
            at: 0,
            message: "there is no known function at this address".into(),
            remedy: Some("compile with `-g`".into()),
        }),
    }
}
