//! Parameters of events: from declarations to values.

use crate::native_target::to_dwarf_registers;
use crate::sys::{self, Tid};
use invigil_debuginfo::machine::Registers;
use invigil_debuginfo::program::{Function, Program};
use invigil_debuginfo::value::{
    Expression, ExpressionError, Extractor, RegisterNeeds, Scalar, ScalarKind, TypeIndex as Types,
    ValueRequest,
};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventBatch, ParamSource, ParamType};

/// The kind of scalar to read for a declared type.
pub(crate) fn scalar_kind(ty: Option<ParamType>) -> ScalarKind {
    match ty {
        None => ScalarKind::Any,
        Some(ParamType::Int) => ScalarKind::Int,
        Some(ParamType::Float) => ScalarKind::Float,
        Some(ParamType::Bool) => ScalarKind::Bool,
        Some(ParamType::Str) => ScalarKind::Str,
    }
}

/// Converts the source of a parameter to a request for debug information. `None` for values that the debugger supplies.
pub(crate) fn value_request(source: &ParamSource) -> Option<Result<ValueRequest, ExpressionError>> {
    match source {
        ParamSource::Program | ParamSource::Thread | ParamSource::Time => None,
        ParamSource::Arg(i) => Some(Ok(ValueRequest::Argument(*i as usize))),
        ParamSource::Ret => Some(Ok(ValueRequest::Returned)),
        source => Some(Expression::parse(&expression(source)).map(ValueRequest::Expression)),
    }
}

/// Formats a parameter as an expression.
fn expression(source: &ParamSource) -> String {
    match source {
        ParamSource::Name(name) => name.clone(),
        ParamSource::Expression(text) => format!("({text})"),
        ParamSource::Arg(i) => format!("$arg{i}"),
        ParamSource::Deref(of) => format!("*{}", expression(of)),
        ParamSource::Address(of) => format!("&{}", expression(of)),
        ParamSource::InCaller(of) => format!("^{}", expression(of)),
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

/// Whether a parameter is the pointee of an argument. At a function's exit, it is read through the argument passed
/// at the entry.
pub(crate) fn is_pointee_of_argument(source: &ParamSource) -> bool {
    matches!(source, ParamSource::Deref(of) if is_argument(of))
}

/// Converts a value for the monitors. Long text goes to the batch.
pub(super) fn to_monitor_value(scalar: &Scalar, ty: Option<ParamType>, batch: &mut EventBatch) -> Value {
    match (scalar, ty) {
        (Scalar::Int(i), None | Some(ParamType::Int)) => Value::int(*i),
        (Scalar::Int(i), Some(ParamType::Float)) => Value::float(*i as f64),
        (Scalar::Int(i), Some(ParamType::Bool)) => Value::bool(*i != 0),
        (Scalar::Float(f), None | Some(ParamType::Float)) => Value::float(*f),
        (Scalar::Bool(b), None | Some(ParamType::Bool)) => Value::bool(*b),
        (Scalar::Bool(b), Some(ParamType::Int)) => Value::int(i64::from(*b)),
        (Scalar::Str(text), None | Some(ParamType::Str)) => Value::of_text(text, &mut batch.text),
        _ => Value::UNSET,
    }
}

/// Value of a parameter that the debugger supplies.
pub(super) fn builtin_value(source: &ParamSource, tid: Tid, process: Tid, time: f64) -> Value {
    match source {
        ParamSource::Thread => Value::int(tid.into()),
        ParamSource::Program => Value::int(process.into()),
        ParamSource::Time => Value::float(time),
        _ => Value::UNSET,
    }
}

/// Fetches the needed registers of a stopped thread, by DWARF number.
pub(crate) fn fetch_registers(tid: Tid, regs: &sys::Regs, needs: RegisterNeeds) -> Registers {
    let mut registers = to_dwarf_registers(regs);
    if needs == RegisterNeeds::Vector {
        registers.set_vectors(sys::vector_registers(tid).ok());
    }
    registers
}

/// Prepares the read of a parameter. Outside of functions only globals are visible.
pub(super) fn compile(
    program: &Program,
    types: &Types,
    function: Option<&Function>,
    address: u64,
    request: &ValueRequest,
    kind: ScalarKind,
) -> Result<Extractor, ExpressionError> {
    match function.cloned().or_else(|| program.function_at(address)) {
        Some(function) => Extractor::compile(program, types, &function, address, request, kind),
        None => Err(ExpressionError {
            at: 0,
            message: "there is no known function at this address".into(),
            remedy: Some("compile with `-g`".into()),
        }),
    }
}
