//! The events that an action of a model represents.

use invigil_expr::value::Value;
use invigil_model::{Action, Binary, Domain, Expression, FaultReason, Model, Step, Unary};
use invigil_monitor::event::{
    ANY_EVENT, Event, EventCatalog, EventId, EventKind, Param, ParamSource, ParamType,
};

/// The declared events of one action.
pub(crate) struct ActionEvents {
    /// The parameters that properties read.
    reads: Vec<Expression>,
    /// The declared events with their parameters, in this order.
    declared: Vec<(EventId, Vec<ParamValue>)>,
}

/// The source of a parameter's value.
enum ParamValue {
    /// An evaluated parameter.
    Read {
        at: usize,
        shape: Shape,
        ty: Option<ParamType>,
    },
    Number(i64),
    Text(String),
    Missing,
}

/// How the values of an expression are interpreted.
#[derive(Clone)]
enum Shape {
    Number,
    Truth,
    Names(Vec<String>),
}

impl ActionEvents {
    /// The events of an action; none if no property declares them.
    pub(crate) fn of(action: &Action, model: &Model, catalog: &EventCatalog) -> Option<ActionEvents> {
        let name = action.event.as_deref()?;
        let named = catalog.find(name, EventKind::implied_by(name));
        let event_ids = named.into_iter().chain(catalog.find(ANY_EVENT, EventKind::Before));
        let mut events = ActionEvents { reads: Vec::new(), declared: Vec::new() };
        for event_id in event_ids {
            let params = catalog.get(event_id).map_or(&[][..], |decl| &decl.params);
            let values = params.iter().map(|param| events.param_value(action, name, param, model)).collect();
            events.declared.push((event_id, values));
        }
        (!events.declared.is_empty()).then_some(events)
    }

    fn param_value(&mut self, action: &Action, event: &str, param: &Param, model: &Model) -> ParamValue {
        let by_name = || {
            let fields = param.fields();
            fields.iter().find_map(|field| action.parameters.iter().find(|(name, _)| name == field))
        };
        let by_position = |position: u32| action.parameters.get((position as usize).checked_sub(1)?);
        let found = match param.source {
            ParamSource::Thread => {
                let process = action.moves.first().map(|by| i64::from(by.process));
                return process.map_or(ParamValue::Missing, ParamValue::Number);
            }
            ParamSource::Time | ParamSource::Program => return ParamValue::Missing,
            ParamSource::Arg(position) => by_name().or_else(|| by_position(position)),
            _ => by_name(),
        };
        match found {
            Some((_, expression)) => {
                let existing = self.reads.iter().position(|read| read == expression);
                let at = existing.unwrap_or_else(|| {
                    self.reads.push(expression.clone());
                    self.reads.len() - 1
                });
                ParamValue::Read { at, shape: shape(expression, model), ty: param.ty }
            }
            // As in a recorded run, the event's name is also available as a field.
            None if param.fields().iter().any(|field| field == "event") => ParamValue::Text(event.to_owned()),
            None => ParamValue::Missing,
        }
    }

    /// Evaluates the parameters for a step by the action.
    pub(crate) fn values(
        &self,
        model: &Model,
        step: Step<'_>,
        out: &mut Vec<i64>,
    ) -> Result<(), FaultReason> {
        out.clear();
        for read in &self.reads {
            out.push(model.value(read, step)?);
        }
        Ok(())
    }

    /// Passes the events with these values to `emit`.
    pub(crate) fn emit(&self, values: &[i64], emit: &mut dyn FnMut(&Event<'_>)) {
        for (event_id, param_values) in &self.declared {
            let mut text = String::new();
            let params: Vec<Value> =
                param_values.iter().map(|param_value| param_value.value(values, &mut text)).collect();
            emit(&Event { id: *event_id, params: &params, text: &text });
        }
    }
}

impl ParamValue {
    fn value(&self, values: &[i64], text: &mut String) -> Value {
        match self {
            ParamValue::Missing => Value::UNSET,
            ParamValue::Number(number) => Value::int(*number),
            ParamValue::Text(words) => Value::of_text(words, text),
            ParamValue::Read { at, shape, ty } => match (shape, values[*at], ty) {
                (Shape::Number, value, None | Some(ParamType::Int)) => Value::int(value),
                (Shape::Number, value, Some(ParamType::Float)) => Value::float(value as f64),
                (Shape::Truth, value, None | Some(ParamType::Bool)) => Value::bool(value != 0),
                (Shape::Names(names), value, None | Some(ParamType::Str)) => {
                    let name = usize::try_from(value).ok().and_then(|at| names.get(at));
                    name.map_or_else(|| Value::int(value), |name| Value::of_text(name, text))
                }
                // As in a recorded run, a value of another type counts as missing.
                _ => Value::UNSET,
            },
        }
    }
}

/// The shape of an expression's values, as far as its syntax shows.
fn shape(expression: &Expression, model: &Model) -> Shape {
    match expression {
        Expression::Read(lvalue) => match &model.variable(lvalue.variable).domain {
            Domain::Integer { .. } => Shape::Number,
            Domain::Boolean => Shape::Truth,
            Domain::Names(names) => Shape::Names(names.clone()),
        },
        Expression::Before(inside) => shape(inside, model),
        Expression::If(parts) => shape(&parts.1, model),
        Expression::Happens(_) | Expression::Enabled(_) | Expression::Unary(Unary::Not, _) => Shape::Truth,
        Expression::Binary(operator, _) => match operator {
            Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessOrEqual
            | Binary::Greater
            | Binary::GreaterOrEqual
            | Binary::And
            | Binary::Or
            | Binary::Implies => Shape::Truth,
            _ => Shape::Number,
        },
        Expression::Constant(_) | Expression::Unary(..) => Shape::Number,
    }
}
