//! The parameters of events: from what a property asks for to values.

use crate::sys::{self, Tid};
use crate::target::registers;
use invigil_debuginfo::machine::Registers;
use invigil_debuginfo::program::{Function, Program};
use invigil_debuginfo::value::{
    Catalog as Types, Expression, Extractor, Form, Mistake, Needs, Plain, Wanted,
};
use invigil_expr::value::Value;
use invigil_monitor::event::{Batch, Source, Type};

pub(crate) fn wanted(ty: Option<Type>) -> Wanted {
    match ty {
        None => Wanted::Any,
        Some(Type::Int) => Wanted::Int,
        Some(Type::Float) => Wanted::Float,
        Some(Type::Bool) => Wanted::Bool,
        Some(Type::Str) => Wanted::Str,
    }
}

/// Where a parameter comes from, as debug information understands it; `None` for what the tool itself knows.
pub(crate) fn form(source: &Source) -> Option<Result<Form, Mistake>> {
    match source {
        Source::Program | Source::Thread | Source::Time => None,
        Source::Arg(i) => Some(Ok(Form::Argument(*i as usize))),
        Source::Ret => Some(Ok(Form::Returned)),
        source => Some(Expression::parse(&expression(source)).map(Form::Expression)),
    }
}

/// A parameter as an expression.
pub(super) fn expression(source: &Source) -> String {
    match source {
        Source::Name(name) => name.clone(),
        Source::Expression(text) => format!("({text})"),
        Source::Arg(i) => format!("$arg{i}"),
        Source::Deref(of) => format!("*{}", expression(of)),
        Source::Address(of) => format!("&{}", expression(of)),
        Source::Outer(of) => format!("^{}", expression(of)),
        // What is returned is in a register.
        Source::Ret => "(char **) $rax".to_owned(),
        Source::Program | Source::Thread | Source::Time => source.to_string(),
    }
}

/// Whether a parameter is an argument by its position.
pub(super) fn is_argument(source: &Source) -> bool {
    match source {
        Source::Arg(_) => true,
        Source::Deref(of) | Source::Address(of) => is_argument(of),
        _ => false,
    }
}

/// Whether a parameter is what an argument points to: that is read at the end of a call, through what was passed at its begin.
pub(crate) fn is_behind_argument(source: &Source) -> bool {
    matches!(source, Source::Deref(of) if is_argument(of))
}

/// A value for the monitors; long text goes to the batch.
pub(super) fn value(plain: &Plain, ty: Option<Type>, batch: &mut Batch) -> Value {
    match (plain, ty) {
        (Plain::Int(i), None | Some(Type::Int)) => Value::int(*i),
        (Plain::Int(i), Some(Type::Float)) => Value::float(*i as f64),
        (Plain::Int(i), Some(Type::Bool)) => Value::bool(*i != 0),
        (Plain::Float(f), None | Some(Type::Float)) => Value::float(*f),
        (Plain::Bool(b), None | Some(Type::Bool)) => Value::bool(*b),
        (Plain::Bool(b), Some(Type::Int)) => Value::int(i64::from(*b)),
        (Plain::Str(text), None | Some(Type::Str)) => text_value(text, batch),
        _ => Value::UNSET,
    }
}

pub(super) fn text_value(text: &str, batch: &mut Batch) -> Value {
    Value::short(text).unwrap_or_else(|| {
        let start = batch.text.len() as u32;
        batch.text.push_str(text);
        Value::text(start, text.len() as u32)
    })
}

/// What the tool itself knows.
pub(super) fn known(source: &Source, tid: Tid, process: Tid, time: f64) -> Value {
    match source {
        Source::Thread => Value::int(tid.into()),
        Source::Program => Value::int(process.into()),
        Source::Time => Value::float(time),
        _ => Value::UNSET,
    }
}

/// The registers that are needed, as debug information numbers them.
pub(crate) fn fetch(tid: Tid, regs: &sys::Regs, needs: Needs) -> Registers {
    let mut read = registers(regs);
    if needs == Needs::Vector {
        read.set_vectors(sys::vector_registers(tid).ok());
    }
    read
}

/// Prepares a parameter. Outside of any function there is nothing but globals, and they are looked for there.
pub(super) fn compile(
    program: &Program,
    types: &Types,
    function: Option<&Function>,
    address: u64,
    form: &Form,
    wanted: Wanted,
) -> Result<Extractor, Mistake> {
    match function.cloned().or_else(|| program.function_at(address)) {
        Some(function) => Extractor::compile(program, types, &function, address, form, wanted),
        None => Err(Mistake {
            at: 0,
            message: "no function is known at this place".into(),
            remedy: Some("compile with `-g`".into()),
        }),
    }
}
