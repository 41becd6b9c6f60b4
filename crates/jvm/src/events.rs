//! From the events that monitors ask for to wants of the agent, and from what it tells to events.

use crate::classpath::ClassPath;
use crate::target::Target;
use crate::wants;
use invigil_expr::value::Value;
use invigil_jvm_agent::protocol::{Answer, Ask, Key, Moment, Request, Want};
use invigil_jvm_agent::values::value;
use invigil_monitor::event::{Catalog, EventSet, Param, Source, Stamp, Symbol, SymbolId};
use invigil_session::subject::{Done, Ending, Stop, Unknown};
use std::path::Path;

/// An event of the catalog.
pub(crate) struct Plan {
    symbol: SymbolId,
    name: String,
    params: Vec<Param>,
    active: bool,
}

/// The event of the program's end.
const EXIT: &str = "#exit";

impl Target {
    /// Tells the agent what will be asked for.
    pub(crate) fn plan(&mut self, catalog: &Catalog) -> Done<Vec<Unknown>> {
        let plan = |(symbol, written): (SymbolId, &Symbol)| Plan {
            symbol,
            name: written.name.clone(),
            params: written.params.clone(),
            active: false,
        };
        self.plans = catalog.iter().map(plan).collect();
        let (wants, mut unknown) = wants::wants(catalog, self.class_path());
        if let Answer::Problems { problems } = self.ask(&Request::Prepare { wants })? {
            for problem in problems {
                let Key::Event { number } = problem.key else { continue };
                // Where one that is much alike is on the class path, the name is a slip, most likely.
                let meant = if problem.pending { self.meant(number) } else { None };
                let pending = problem.pending && (self.expects_classes || meant.is_none());
                let help = meant.unwrap_or(problem.help);
                unknown.push(Unknown {
                    symbol: SymbolId(number),
                    param: problem.ask.map(|ask| ask as usize),
                    reason: problem.reason,
                    help,
                    pending,
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
        wants::want(self.class_path(), key, moment, name, asks)
    }

    pub(crate) fn class_path(&mut self) -> &ClassPath {
        let facts = &self.facts;
        self.classes.get_or_insert_with(|| ClassPath::new(&facts.class_path, Path::new(&facts.directory)))
    }

    /// The name that may have been meant by one that no class has.
    fn meant(&mut self, symbol: u32) -> Option<String> {
        let name = self.plans.iter().find(|plan| plan.symbol.0 == symbol)?.name.clone();
        wants::meant(self.class_path(), &name)
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
        let hits = waiting.hits.iter().filter_map(|hit| match hit.key {
            Key::Event { number } => Some((number, hit.values.as_slice())),
            Key::Point { .. } => None,
        });
        let is_made =
            |number: u32| self.plans.iter().any(|plan| plan.symbol.0 == number && plan.name.starts_with('#'));
        for (number, values) in in_order(hits, is_made) {
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
        // Monitors that step inside may have come to need it since they were asked.
        let wanted = |plan: &&Plan| (plan.active || self.rooms.used) && plan.name == EXIT;
        for plan in self.plans.iter().filter(wanted) {
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

/// The events of a place in the order of the catalog. What is made of an event, inside the program, stays behind it.
fn in_order<T>(hits: impl Iterator<Item = (u32, T)>, is_made: impl Fn(u32) -> bool) -> Vec<(u32, T)> {
    let mut before = 0;
    let mut all: Vec<(u32, u32, T)> = hits
        .map(|(number, values)| {
            if !is_made(number) {
                before = number;
            }
            (before, number, values)
        })
        .collect();
    all.sort_by_key(|(before, ..)| *before);
    all.into_iter().map(|(_, number, values)| (number, values)).collect()
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn what_is_made_of_an_event_stays_behind_it() {
        let is_made = |number| number >= 10;
        let hits = |numbers: &[u32]| in_order(numbers.iter().map(|number| (*number, ())), is_made);
        let numbers =
            |numbers: &[u32]| hits(numbers).into_iter().map(|(number, ())| number).collect::<Vec<_>>();
        assert_eq!(numbers(&[1, 12, 11, 2, 13]), [1, 12, 11, 2, 13]);
        assert_eq!(numbers(&[2, 13, 1, 12, 11]), [1, 12, 11, 2, 13]);
        // Time alone makes events, too.
        assert_eq!(numbers(&[12, 11]), [12, 11]);
    }
}
