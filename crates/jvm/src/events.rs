//! From the events that monitors ask for to wants of the agent, and from what it tells to events.

use crate::classpath::ClassPath;
use crate::route;
use crate::target::Target;
use invigil_expr::diag::nearest;
use invigil_expr::value::Value;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::names::{dotted, is_platform};
use invigil_jvm_agent::protocol::{self as told, Answer, Ask, Datum, Key, Moment, Request, Route, Want};
use invigil_monitor::event::{Batch, Catalog, EventSet, Kind, Param, Source, Stamp, SymbolId, Type};
use invigil_session::subject::{Done, Ending, Stop, Unknown};
use std::path::Path;

/// An event of the catalog.
pub(crate) struct Plan {
    symbol: SymbolId,
    name: String,
    params: Vec<Param>,
    active: bool,
}

/// How a variable is reached.
enum Routed {
    /// By its class or method alone.
    Plain,
    /// Over other objects.
    Over(Route),
    /// It cannot change but by a write.
    Never,
}

/// The event of the program's end.
const EXIT: &str = "#exit";

impl Target {
    /// Tells the agent what will be asked for.
    pub(crate) fn plan(&mut self, catalog: &Catalog) -> Done<Vec<Unknown>> {
        self.plans.clear();
        let (mut wants, mut unknown) = (Vec::new(), Vec::new());
        for (symbol, written) in catalog.iter() {
            let plan =
                Plan { symbol, name: written.name.clone(), params: written.params.clone(), active: false };
            let problem = |reason: String, help: &str| Unknown {
                symbol,
                param: None,
                reason,
                help: help.to_owned(),
                pending: false,
            };
            match moment(&plan.name, written.kind) {
                Ok(Some(moment)) => match asks(&plan) {
                    Ok(asks) => match self.routed(&moment, &plan.name) {
                        Ok(Routed::Never) => {}
                        Ok(_) => {
                            wants.push(self.want(Key::Event { number: symbol.0 }, moment, &plan.name, asks))
                        }
                        Err((reason, help)) => unknown.push(problem(reason, &help)),
                    },
                    Err(lacking) => unknown.extend(lacking),
                },
                // Not the program's to tell, or known without the agent.
                Ok(None) => {}
                Err((reason, help)) => unknown.push(problem(reason, help)),
            }
            self.plans.push(plan);
        }
        unknown.extend(self.strange_scopes());
        if let Answer::Problems { problems } = self.ask(&Request::Prepare { wants })? {
            for problem in problems {
                let Key::Event { number } = problem.key else { continue };
                let help = match problem.pending {
                    true => self.meant(number).unwrap_or(problem.help),
                    false => problem.help,
                };
                unknown.push(Unknown {
                    symbol: SymbolId(number),
                    param: problem.ask.map(|ask| ask as usize),
                    reason: problem.reason,
                    help,
                    pending: problem.pending,
                });
            }
        }
        if std::mem::take(&mut self.holds_first) {
            self.hold_all()?;
        }
        Ok(unknown)
    }

    /// Something to be told, with the classes that its name may mean.
    pub(crate) fn want(&mut self, key: Key, moment: Moment, name: &str, asks: Vec<Ask>) -> Want {
        let candidates = match (&moment, Entity::parse(name)) {
            (Moment::Line, _) | (_, Err(_)) => Vec::new(),
            (_, Ok(entity)) => {
                let all = self.class_path().names();
                all.filter(|class| entity.name.means_class(class)).take(20).map(str::to_owned).collect()
            }
        };
        let route = match self.routed(&moment, name) {
            Ok(Routed::Over(route)) => Some(route),
            _ => None,
        };
        Want { key, moment, name: name.to_owned(), candidates, asks, route }
    }

    fn class_path(&mut self) -> &ClassPath {
        let facts = &self.facts;
        self.classes.get_or_insert_with(|| ClassPath::new(&facts.class_path, Path::new(&facts.directory)))
    }

    /// Whether a variable is reached over other objects.
    fn routed(&mut self, moment: &Moment, name: &str) -> Result<Routed, route::Mistake> {
        let Ok(entity) = Entity::parse(name) else { return Ok(Routed::Plain) };
        if *moment != Moment::Write {
            return Ok(Routed::Plain);
        }
        Ok(match route::route(self.class_path(), &entity)? {
            Some(route) => Routed::Over(route),
            None if entity.is_by_path => Routed::Never,
            None => Routed::Plain,
        })
    }

    /// Complains about parts of the program that no class is in.
    fn strange_scopes(&mut self) -> Vec<Unknown> {
        let scopes: Vec<(SymbolId, String)> = (self.plans.iter())
            .filter_map(|plan| Some((plan.symbol, Entity::parse(&plan.name).ok()?.scope?)))
            .filter_map(|(symbol, scope)| {
                let path = self.classes.as_ref()?;
                let is_there = path.names().any(|class| scope.touches(class));
                (!is_there && !is_platform(&scope.part)).then_some((symbol, scope.part))
            })
            .collect();
        let unknown = scopes.into_iter().map(|(symbol, part)| Unknown {
            symbol,
            param: None,
            reason: format!("there is no class or package `{part}` so far"),
            help: self.nearest_class(&part).unwrap_or_default(),
            pending: true,
        });
        unknown.collect()
    }

    /// The name that may have been meant by one that no class has.
    fn meant(&mut self, symbol: u32) -> Option<String> {
        let plan = self.plans.iter().find(|plan| plan.symbol.0 == symbol)?;
        let class = Entity::parse(&plan.name).ok()?.name.class;
        // Of `A.b.c` the class may be `A`.
        let starts = class.match_indices('.').map(|(at, _)| &class[..at]).collect::<Vec<_>>();
        self.nearest_class(&class)
            .or_else(|| starts.into_iter().rev().find_map(|start| self.nearest_class(start)))
    }

    fn nearest_class(&self, class: &str) -> Option<String> {
        let path = self.classes.as_ref()?;
        // Who leaves the package out compares with names without it.
        let shown = path.names().map(|known| match class.contains('.') {
            true => dotted(known),
            false => dotted(known).rsplit('.').next().unwrap_or_default().to_owned(),
        });
        let shown: Vec<String> = shown.collect();
        let near = nearest(class, shown.iter().map(String::as_str))?;
        Some(format!("did you mean `{near}`? Otherwise it is watched when it is loaded"))
    }

    pub(crate) fn activate(&mut self, needs: &EventSet) -> Done {
        for plan in &mut self.plans {
            plan.active = needs.contains(plan.symbol);
        }
        self.rooms.hears_all = false;
        self.activate_plans(false)?;
        self.send_scripts()
    }

    /// Has the agent tell the events that are needed now, or all: monitors inside need others from event to event.
    pub(crate) fn activate_plans(&mut self, all: bool) -> Done {
        let needed = self.plans.iter().filter(|plan| all || plan.active).map(|plan| plan.symbol.0);
        let mut events: Vec<u32> = needed.collect();
        events.extend(self.rooms.scripts.iter().map(|symbol| symbol.0));
        self.ask(&Request::Activate { events })?;
        Ok(())
    }

    /// Makes the events of the place at which a thread waits.
    pub(crate) fn make_events(&mut self) -> Option<Stop> {
        self.batch.clear();
        let waiting = self.waiting.as_ref()?;
        let stamp = Stamp { time: waiting.time, line: 0 };
        let hits: Vec<(u32, &[Datum])> = waiting
            .hits
            .iter()
            .filter_map(|hit| match hit.key {
                Key::Event { number } => Some((number, hit.values.as_slice())),
                Key::Point { .. } => None,
            })
            .collect();
        // What is made of events, which has names that begin with `#`, follows them in its own order.
        let is_made =
            |number: u32| self.plans.iter().any(|plan| plan.symbol.0 == number && plan.name.starts_with('#'));
        let (made, mut hits): (Vec<_>, Vec<_>) = hits.into_iter().partition(|(number, _)| is_made(*number));
        hits.sort_by_key(|(number, _)| *number);
        hits.extend(made);
        for (number, values) in hits {
            // Monitors that step inside have chosen what is told.
            let active =
                self.rooms.used || self.plans.iter().any(|plan| plan.symbol.0 == number && plan.active);
            if active {
                let values: Vec<Value> = values.iter().map(|datum| value(datum, &mut self.batch)).collect();
                self.batch.push(SymbolId(number), &values, stamp);
            }
        }
        (!self.batch.is_empty()).then_some(Stop::Events)
    }

    /// Makes the event of the program's end; says whether somebody wants it.
    pub(crate) fn note_end(&mut self, ending: &Ending) -> bool {
        self.batch.clear();
        let status = match ending {
            Ending::Exited(status) => Value::int((*status).into()),
            _ => Value::UNSET,
        };
        for plan in self.plans.iter().filter(|plan| plan.active && plan.name == EXIT) {
            let values = plan.params.iter().map(|param| match &param.source {
                Source::Name(name) if name == "status" => status,
                _ => Value::UNSET,
            });
            let values: Vec<Value> = values.collect();
            self.batch.push(plan.symbol, &values, Stamp { time: f64::NAN, line: 0 });
        }
        !self.batch.is_empty()
    }
}

/// When an event happens, if the agent is to tell it.
fn moment(name: &str, kind: Kind) -> Result<Option<Moment>, (String, &'static str)> {
    if name.starts_with('#') {
        let others = ["#signal", "#fork", "#exec", "#thread", "#thread_exit"];
        return match others.contains(&name) {
            true => Err((format!("a Java program does not tell `{name}`"), "")),
            false => Ok(None),
        };
    }
    if name.starts_with("syscall:") {
        return Err((
            format!("a Java program does not tell `{name}`"),
            "watch the method that makes the call",
        ));
    }
    match kind {
        Kind::Before => Ok(Some(Moment::Enter)),
        Kind::After => Ok(Some(Moment::Leave)),
        Kind::Write => Ok(Some(Moment::Write)),
        Kind::Read | Kind::Access | Kind::BeforeRead | Kind::BeforeAccess => Err((
            format!("reading `{name}` is not told of a Java program"),
            "watch `event write`, or the method that reads it",
        )),
        Kind::BeforeWrite => Err((
            format!("a Java program does not tell that `{name}` is about to be written"),
            "watch `event write`, which happens right after",
        )),
        Kind::Join | Kind::Leave | Kind::Tick => Ok(None),
    }
}

/// What is asked for with an event; or the parameters that Java does not have.
fn asks(plan: &Plan) -> Result<Vec<Ask>, Vec<Unknown>> {
    let mut lacking = Vec::new();
    let mut asks = Vec::new();
    for (at, param) in plan.params.iter().enumerate() {
        let source = match &param.source {
            Source::Name(name) => told::Source::Expression { text: name.clone() },
            Source::Expression(text) => told::Source::Expression { text: text.clone() },
            Source::Arg(number) => told::Source::Argument { number: *number },
            Source::Ret => told::Source::Result,
            Source::Thread => told::Source::Thread,
            Source::Program => told::Source::Process,
            Source::Time => told::Source::Time,
            source @ (Source::Deref(_) | Source::Address(_) | Source::Outer(_)) => {
                lacking.push(Unknown {
                    symbol: plan.symbol,
                    param: Some(at),
                    reason: format!(
                        "the parameter `{source}`: Java has no pointers, and callers are not looked at"
                    ),
                    help: "name a parameter, `this`, or a path such as `\"this.size\" as n`".to_owned(),
                    pending: false,
                });
                continue;
            }
        };
        let ty = param.ty.map(|ty| match ty {
            Type::Int => told::Type::Int,
            Type::Float => told::Type::Float,
            Type::Bool => told::Type::Bool,
            Type::Str => told::Type::Text,
        });
        asks.push(Ask { source, ty });
    }
    if lacking.is_empty() { Ok(asks) } else { Err(lacking) }
}

/// A value for the monitors; long text goes to the batch.
pub(crate) fn value(datum: &Datum, batch: &mut Batch) -> Value {
    match datum {
        Datum::Unset => Value::UNSET,
        Datum::Null => Value::NONE,
        Datum::Bool { value } => Value::bool(*value),
        Datum::Int { value } => Value::int(*value),
        Datum::Float { value } => Value::float(*value),
        Datum::Object { number } => Value::int(*number),
        Datum::Text { value } => Value::short(value).unwrap_or_else(|| {
            let start = batch.text.len() as u32;
            batch.text.push_str(value);
            Value::text(start, value.len() as u32)
        }),
    }
}
