//! The events that an action of a model stands for.

use invigil_expr::value::Value;
use invigil_model::{Action, Binary, Expression, Kind as Holds, Model, Reason, Step, Unary};
use invigil_monitor::event::{ANY, Catalog, Event, Kind, Param, Source, SymbolId, Type};

/// The events of an action that somebody looks at.
pub(crate) struct Events {
    /// The parameters that somebody reads.
    reads: Vec<Expression>,
    /// What is told, in this order.
    told: Vec<(SymbolId, Vec<Part>)>,
}

/// A parameter of an event.
enum Part {
    /// One of the values that are read.
    Read {
        at: usize,
        shape: Shape,
        ty: Option<Type>,
    },
    Number(i64),
    Text(String),
    Missing,
}

/// What the values of an expression are for people.
#[derive(Clone)]
enum Shape {
    Number,
    Truth,
    Names(Vec<String>),
}

impl Events {
    /// The events of an action; none if nobody looks at them.
    pub(crate) fn of(action: &Action, model: &Model, catalog: &Catalog) -> Option<Events> {
        let name = action.event.as_deref()?;
        let named = catalog.find(name, Kind::implied_by(name));
        let symbols = named.into_iter().chain(catalog.find(ANY, Kind::Before));
        let mut events = Events { reads: Vec::new(), told: Vec::new() };
        for symbol in symbols {
            let params = catalog.get(symbol).map_or(&[][..], |symbol| &symbol.params);
            let parts = params.iter().map(|param| events.part(action, name, param, model)).collect();
            events.told.push((symbol, parts));
        }
        (!events.told.is_empty()).then_some(events)
    }

    fn part(&mut self, action: &Action, event: &str, param: &Param, model: &Model) -> Part {
        let by_name = || {
            let fields = param.fields();
            fields.iter().find_map(|field| action.parameters.iter().find(|(name, _)| name == field))
        };
        let by_place = |place: u32| action.parameters.get((place as usize).checked_sub(1)?);
        let found = match param.source {
            Source::Thread => {
                let process = action.moves.first().map(|by| i64::from(by.process));
                return process.map_or(Part::Missing, Part::Number);
            }
            Source::Time | Source::Program => return Part::Missing,
            Source::Arg(place) => by_name().or_else(|| by_place(place)),
            _ => by_name(),
        };
        match found {
            Some((_, expression)) => {
                let known = self.reads.iter().position(|known| known == expression);
                let at = known.unwrap_or_else(|| {
                    self.reads.push(expression.clone());
                    self.reads.len() - 1
                });
                Part::Read { at, shape: shape(expression, model), ty: param.ty }
            }
            // In a recorded run the name of the event is a field, too.
            None if param.fields().iter().any(|field| field == "event") => Part::Text(event.to_owned()),
            None => Part::Missing,
        }
    }

    /// The values that somebody reads, in a step by the action.
    pub(crate) fn values(&self, model: &Model, step: Step<'_>, out: &mut Vec<i64>) -> Result<(), Reason> {
        out.clear();
        for read in &self.reads {
            out.push(model.value(read, step)?);
        }
        Ok(())
    }

    /// Tells the events for these values.
    pub(crate) fn tell(&self, values: &[i64], tell: &mut dyn FnMut(&Event<'_>)) {
        for (symbol, parts) in &self.told {
            let mut text = String::new();
            let params: Vec<Value> = parts.iter().map(|part| part.value(values, &mut text)).collect();
            tell(&Event { symbol: *symbol, params: &params, text: &text });
        }
    }
}

impl Part {
    fn value(&self, values: &[i64], text: &mut String) -> Value {
        match self {
            Part::Missing => Value::UNSET,
            Part::Number(number) => Value::int(*number),
            Part::Text(words) => written(words, text),
            Part::Read { at, shape, ty } => match (shape, values[*at], ty) {
                (Shape::Number, value, None | Some(Type::Int)) => Value::int(value),
                (Shape::Number, value, Some(Type::Float)) => Value::float(value as f64),
                (Shape::Truth, value, None | Some(Type::Bool)) => Value::bool(value != 0),
                (Shape::Names(names), value, None | Some(Type::Str)) => {
                    let name = usize::try_from(value).ok().and_then(|at| names.get(at));
                    name.map_or_else(|| Value::int(value), |name| written(name, text))
                }
                // As in a recorded run: what is of another type is not there.
                _ => Value::UNSET,
            },
        }
    }
}

fn written(words: &str, text: &mut String) -> Value {
    Value::short(words).unwrap_or_else(|| {
        let start = text.len() as u32;
        text.push_str(words);
        Value::text(start, words.len() as u32)
    })
}

/// What the values of an expression are, as far as one can see.
fn shape(expression: &Expression, model: &Model) -> Shape {
    match expression {
        Expression::Read(place) => match &model.variable(place.variable).kind {
            Holds::Integer { .. } => Shape::Number,
            Holds::Boolean => Shape::Truth,
            Holds::Names(names) => Shape::Names(names.clone()),
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
