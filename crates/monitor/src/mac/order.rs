//! Order of evaluation of definitions and guards.
//!
//! Each item is evaluated once per instant, after the items that it names. This determines the meaning of a
//! variable without a prime in a definition: its value after the guards of the instant, if these can be
//! evaluated first. If one of them depends on the definition, it is the value before the instant. A condition
//! that reads such an old value is evaluated a second time, with the new value, for readers that do not: a
//! property sees the values after the instant.

use super::graph::{CycleFinder, components};
use super::ids::*;
use super::script_def::{Does, EventIs, Expr, Occurrence, ScriptDef};
use super::walk::{Node, Walk};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// An evaluated item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Event(ScriptEventId),
    Condition(ConditionId),
    /// A condition with old values, evaluated again with new ones.
    Late(ConditionId),
    /// Not evaluated itself: complete when all guards that may set the variable are evaluated.
    Auxiliary(AuxiliaryId),
    Update(u32),
    Property(u32),
    Alarm(u32),
}

/// A definition or a guard, for errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Definition {
    /// A named event.
    Event(ScriptEventId),
    /// A named condition.
    Condition(ConditionId),
    /// The new value of an auxiliary variable.
    Auxiliary(AuxiliaryId),
    /// A guard.
    Guard(GuardId),
    /// A property.
    Property(u32),
    /// An alarm.
    Alarm(u32),
}

/// A cyclic dependency of definitions and guards at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Each item needs the next, and the last needs the first.
    pub members: Vec<Definition>,
    names: Vec<String>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.names {
            write!(f, "{name} needs ")?;
        }
        f.write_str(self.names.first().map_or("", |name| name))
    }
}

impl core::error::Error for Cycle {}

/// The order of evaluation.
pub(super) struct EvaluationOrder {
    /// The items in order of evaluation.
    pub(super) order: Vec<Item>,
    component: Vec<u32>,
    looks_back: Vec<bool>,
    ranges: ItemRanges,
}

/// The indexes of items in the graph.
#[derive(Clone, Copy)]
struct ItemRanges {
    conditions: usize,
    updates: usize,
    auxiliaries: usize,
    late: usize,
    properties: usize,
    alarms: usize,
    end: usize,
}

impl ItemRanges {
    fn new(parts: &ScriptDef) -> ItemRanges {
        let conditions = parts.events.len();
        let updates = conditions + parts.conditions.len();
        let auxiliaries = updates + parts.updates.len();
        let late = auxiliaries + parts.auxiliaries.len();
        let properties = late + parts.conditions.len();
        let alarms = properties + parts.properties.len();
        let end = alarms + parts.alarms.len();
        ItemRanges { conditions, updates, auxiliaries, late, properties, alarms, end }
    }

    fn of(&self, item: Item) -> usize {
        match item {
            Item::Event(id) => id.at(),
            Item::Condition(id) => self.conditions + id.at(),
            Item::Update(at) => self.updates + at as usize,
            Item::Auxiliary(id) => self.auxiliaries + id.at(),
            Item::Late(id) => self.late + id.at(),
            Item::Property(at) => self.properties + at as usize,
            Item::Alarm(at) => self.alarms + at as usize,
        }
    }

    fn item(&self, place: usize) -> Item {
        let at = |base: usize| (place - base) as u32;
        match place {
            _ if place < self.conditions => Item::Event(ScriptEventId(at(0))),
            _ if place < self.updates => Item::Condition(ConditionId(at(self.conditions))),
            _ if place < self.auxiliaries => Item::Update(at(self.updates)),
            _ if place < self.late => Item::Auxiliary(AuxiliaryId(at(self.auxiliaries))),
            _ if place < self.properties => Item::Late(ConditionId(at(self.late))),
            _ if place < self.alarms => Item::Property(at(self.properties)),
            _ => Item::Alarm(at(self.alarms)),
        }
    }
}

/// The items that an item names.
#[derive(Clone, Default)]
struct Uses {
    events: Vec<ScriptEventId>,
    conditions: Vec<ConditionId>,
    primed: Vec<AuxiliaryId>,
    unprimed: Vec<AuxiliaryId>,
}

/// The node that computes the value of an item.
pub(super) fn root(parts: &ScriptDef, item: Item) -> Option<Node> {
    Some(match item {
        Item::Event(id) => match parts.events[id.at()].is {
            EventIs::Defined(event) => Node::Event(event),
            EventIs::Imported(_) => return None,
        },
        Item::Condition(id) | Item::Late(id) => Node::Expr(parts.conditions[id.at()].is?),
        Item::Auxiliary(_) => return None,
        Item::Update(at) => match parts.updates[at as usize].does {
            Does::Assign(_, value) | Does::Print(value) => Node::Expr(value),
            Does::Invoke(_) => return None,
        },
        Item::Property(at) => Node::Expr(parts.properties[at as usize].1),
        Item::Alarm(at) => Node::Event(parts.alarms[at as usize].1),
    })
}

fn uses(parts: &ScriptDef, item: Item, walk: &mut Walk) -> Uses {
    let mut uses = Uses::default();
    if let Item::Update(at) = item {
        uses.events.push(parts.guards[parts.updates[at as usize].guard.at()]);
    }
    let Some(root) = root(parts, item) else { return uses };
    for node in walk.postorder(parts, root, |_| false) {
        match *node {
            Node::Expr(id) => match parts.exprs[id.at()].0 {
                Expr::Condition(id) => uses.conditions.push(id),
                Expr::Auxiliary { variable, primed: true } => uses.primed.push(variable),
                Expr::Auxiliary { variable, primed: false } => uses.unprimed.push(variable),
                _ => {}
            },
            Node::Event(id) => {
                if let Occurrence::Named(event) = parts.occurrences[id.at()].0 {
                    uses.events.push(event);
                }
            }
        }
    }
    uses
}

impl EvaluationOrder {
    /// The order of evaluation, or all cycles.
    pub(super) fn new(parts: &ScriptDef) -> Result<EvaluationOrder, Vec<Cycle>> {
        let ranges = ItemRanges::new(parts);
        let mut walk = Walk::default();
        let used: Vec<Uses> = (0..ranges.end).map(|at| uses(parts, ranges.item(at), &mut walk)).collect();
        let mut plan =
            EvaluationOrder { order: Vec::new(), component: Vec::new(), looks_back: Vec::new(), ranges };
        // Assume first that no item reads old values, to find those that must.
        plan.looks_back.resize(parts.conditions.len(), false);
        plan.component.resize(ranges.end, u32::MAX);
        for (number, members) in components(&plan.graph(parts, &used, false)).iter().enumerate() {
            for member in members {
                plan.component[*member as usize] = number as u32;
            }
        }
        for id in (0..parts.conditions.len() as u32).map(ConditionId) {
            let (item, used) = (Item::Condition(id), &used[ranges.of(Item::Condition(id))]);
            let back = used.unprimed.iter().any(|variable| plan.reads_old(item, *variable))
                || used
                    .conditions
                    .iter()
                    .any(|other| plan.looks_back[other.at()] && plan.together(item, Item::Condition(*other)));
            plan.looks_back[id.at()] = back;
        }
        let graph = plan.graph(parts, &used, true);
        let found = components(&graph);
        let mut finder = CycleFinder::new(&graph, &found);
        let mut cycles = Vec::new();
        for members in found {
            let first = members[0];
            if members.len() > 1 || graph[first as usize].contains(&first) {
                let path = finder.cycle_in_component_of(first);
                cycles.push(Cycle::new(parts, path.iter().map(|place| ranges.item(*place as usize))));
            } else {
                plan.order.push(ranges.item(first as usize));
            }
        }
        if !cycles.is_empty() {
            return Err(cycles);
        }
        // Prints and invocations are last, in the order of the script.
        let assigns = |at: u32| matches!(parts.updates[at as usize].does, Does::Assign(..));
        plan.order.retain(|item| match *item {
            Item::Auxiliary(_) => false,
            Item::Late(id) => plan.looks_back[id.at()],
            Item::Update(at) => assigns(at),
            item => root(parts, item).is_some(),
        });
        plan.order.extend((0..parts.updates.len() as u32).filter(|at| !assigns(*at)).map(Item::Update));
        Ok(plan)
    }

    /// Whether an item reads the value of an unprimed variable before the instant.
    pub(super) fn reads_old(&self, item: Item, variable: AuxiliaryId) -> bool {
        matches!(item, Item::Update(_)) || self.together(item, Item::Auxiliary(variable))
    }

    /// The item that stands for a condition when this item names it.
    pub(super) fn as_read_by(&self, item: Item, condition: ConditionId) -> Item {
        if self.looks_back[condition.at()] && !self.together(item, Item::Condition(condition)) {
            Item::Late(condition)
        } else {
            Item::Condition(condition)
        }
    }

    /// Whether two items depend on each other, if none reads old values.
    fn together(&self, a: Item, b: Item) -> bool {
        let settled = |item| matches!(item, Item::Late(_) | Item::Property(_) | Item::Alarm(_));
        !settled(a) && self.component[self.ranges.of(a)] == self.component[self.ranges.of(b)]
    }

    /// The dependencies of all items. Until it is known which read old values, none does.
    fn graph(&self, parts: &ScriptDef, used: &[Uses], settled: bool) -> Vec<Vec<u32>> {
        let ranges = self.ranges;
        let mut last_set: Vec<Option<u32>> = alloc::vec![None; parts.auxiliaries.len()];
        let mut graph: Vec<Vec<u32>> = Vec::with_capacity(ranges.end);
        for (at, used) in used.iter().enumerate() {
            let item = ranges.item(at);
            let mut needs: Vec<u32> = Vec::new();
            let mut need = |item: Item| needs.push(ranges.of(item) as u32);
            used.events.iter().for_each(|event| need(Item::Event(*event)));
            used.primed.iter().for_each(|variable| need(Item::Auxiliary(*variable)));
            for condition in &used.conditions {
                need(if settled { self.as_read_by(item, *condition) } else { Item::Condition(*condition) });
            }
            for variable in &used.unprimed {
                let old = matches!(item, Item::Update(_)) || settled && self.reads_old(item, *variable);
                if !old {
                    need(Item::Auxiliary(*variable));
                }
            }
            if let Item::Update(update) = item
                && let Does::Assign(variable, _) = parts.updates[update as usize].does
                && let Some(before) = last_set[variable.at()].replace(update)
            {
                need(Item::Update(before));
            }
            graph.push(needs);
        }
        for (at, update) in parts.updates.iter().enumerate() {
            if let Does::Assign(variable, _) = update.does {
                let place = ranges.of(Item::Auxiliary(variable));
                graph[place].push(ranges.of(Item::Update(at as u32)) as u32);
            }
        }
        graph
    }
}

impl Cycle {
    fn new(parts: &ScriptDef, items: impl Iterator<Item = Item>) -> Cycle {
        let members: Vec<Definition> = items.map(|item| definition(parts, item)).collect();
        let names = members.iter().map(|member| member.name(parts)).collect();
        Cycle { members, names }
    }
}

/// The name of an item in errors.
pub(super) fn definition(parts: &ScriptDef, item: Item) -> Definition {
    match item {
        Item::Event(id) => Definition::Event(id),
        Item::Condition(id) | Item::Late(id) => Definition::Condition(id),
        Item::Auxiliary(id) => Definition::Auxiliary(id),
        Item::Update(at) => Definition::Guard(parts.updates[at as usize].guard),
        Item::Property(at) => Definition::Property(at),
        Item::Alarm(at) => Definition::Alarm(at),
    }
}

impl Definition {
    /// Its name in a script, for messages.
    pub fn name(self, parts: &ScriptDef) -> String {
        let name = match self {
            Definition::Event(id) => parts.events.get(id.at()).map(|event| &event.name),
            Definition::Condition(id) => parts.conditions.get(id.at()).map(|condition| &condition.name),
            Definition::Property(at) => parts.properties.get(at as usize).map(|(name, _)| name),
            Definition::Alarm(at) => parts.alarms.get(at as usize).map(|(name, _)| name),
            Definition::Auxiliary(id) => {
                let variable = parts.auxiliaries.get(id.at());
                return variable.map_or_else(String::new, |variable| alloc::format!("`{}'`", variable.name));
            }
            Definition::Guard(id) => {
                let event = parts.guards.get(id.at()).and_then(|event| parts.events.get(event.at()));
                return event
                    .map_or_else(String::new, |event| alloc::format!("the guard of `{}`", event.name));
            }
        };
        name.map_or_else(String::new, |name| alloc::format!("`{name}`"))
    }
}

impl ScriptDef {
    /// The cyclic dependencies: a definition names `x'`, and a guard that sets `x` depends on the definition. A
    /// script with a cycle has no meaning.
    ///
    /// ```
    /// use invigil_monitor::mac::{Binary, ScriptDef, Type, Value};
    /// let mut parts = ScriptDef::default();
    /// let push = parts.import_event("push", &[]);
    /// let count = parts.auxiliary("count", Type::Int, Value::Int(0))?;
    /// // event few = push when count' < 3;
    /// let (left, right) = (parts.primed(count)?, parts.constant(Value::Int(3)));
    /// let (push, less) = (parts.event(push)?, parts.binary(Binary::Less, left, right)?);
    /// let few = parts.when(push, less)?;
    /// let few = parts.define_event("few", few)?;
    /// // few -> { count' = count + 1; }
    /// let few = parts.event(few)?;
    /// let guard = parts.guard(few)?;
    /// let (left, right) = (parts.unprimed(count)?, parts.constant(Value::Int(1)));
    /// let sum = parts.binary(Binary::Add, left, right)?;
    /// parts.assign(guard, count, sum)?;
    /// let cycles = parts.cycles();
    /// assert_eq!(cycles[0].to_string(), "`few` needs `count'` needs the guard of `few` needs `few`");
    /// # Ok::<(), invigil_monitor::mac::DefinitionError>(())
    /// ```
    pub fn cycles(&self) -> Vec<Cycle> {
        EvaluationOrder::new(self).err().unwrap_or_default()
    }
}
