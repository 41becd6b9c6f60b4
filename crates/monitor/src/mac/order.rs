//! Order of evaluation of definitions and guards.
//!
//! Each item is evaluated once per instant, after the items that it names. This determines the meaning of a
//! variable without a prime in a definition: its value after the guards of the instant, if these can be
//! evaluated first. If one of them depends on the definition, it is the value before the instant. A condition
//! that reads such an old value is evaluated a second time, with the new value, for readers that do not: a
//! property sees the values after the instant.

use super::graph::{CycleFinder, components};
use super::ids::*;
use super::script_def::{EventOrigin, Expr, GuardAction, Occurrence, ScriptDef};
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
    pub(super) items: Vec<Item>,
    /// Per item, the number of its strongly connected component, if no item reads old values.
    component: Vec<u32>,
    /// Per condition, whether it reads values from before the instant, also through other conditions.
    reads_old_values: Vec<bool>,
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
    fn new(script: &ScriptDef) -> ItemRanges {
        let conditions = script.events.len();
        let updates = conditions + script.conditions.len();
        let auxiliaries = updates + script.updates.len();
        let late = auxiliaries + script.auxiliaries.len();
        let properties = late + script.conditions.len();
        let alarms = properties + script.properties.len();
        let end = alarms + script.alarms.len();
        ItemRanges { conditions, updates, auxiliaries, late, properties, alarms, end }
    }

    fn index(&self, item: Item) -> usize {
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

    fn item(&self, index: usize) -> Item {
        let at = |base: usize| (index - base) as u32;
        match index {
            _ if index < self.conditions => Item::Event(ScriptEventId(at(0))),
            _ if index < self.updates => Item::Condition(ConditionId(at(self.conditions))),
            _ if index < self.auxiliaries => Item::Update(at(self.updates)),
            _ if index < self.late => Item::Auxiliary(AuxiliaryId(at(self.auxiliaries))),
            _ if index < self.properties => Item::Late(ConditionId(at(self.late))),
            _ if index < self.alarms => Item::Property(at(self.properties)),
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
pub(super) fn root(script: &ScriptDef, item: Item) -> Option<Node> {
    Some(match item {
        Item::Event(id) => match script.events[id.at()].origin {
            EventOrigin::Defined(event) => Node::Event(event),
            EventOrigin::Imported(_) => return None,
        },
        Item::Condition(id) | Item::Late(id) => Node::Expr(script.conditions[id.at()].definition?),
        Item::Auxiliary(_) => return None,
        Item::Update(at) => match script.updates[at as usize].action {
            GuardAction::Assign(_, value) | GuardAction::Print(value) => Node::Expr(value),
            GuardAction::Invoke(_) => return None,
        },
        Item::Property(at) => Node::Expr(script.properties[at as usize].1),
        Item::Alarm(at) => Node::Event(script.alarms[at as usize].1),
    })
}

fn uses(script: &ScriptDef, item: Item, walk: &mut Walk) -> Uses {
    let mut uses = Uses::default();
    if let Item::Update(at) = item {
        uses.events.push(script.guards[script.updates[at as usize].guard.at()]);
    }
    let Some(root) = root(script, item) else { return uses };
    for node in walk.postorder(script, root, |_| false) {
        match *node {
            Node::Expr(id) => match script.exprs[id.at()].0 {
                Expr::Condition(id) => uses.conditions.push(id),
                Expr::Auxiliary { variable, primed: true } => uses.primed.push(variable),
                Expr::Auxiliary { variable, primed: false } => uses.unprimed.push(variable),
                _ => {}
            },
            Node::Event(id) => {
                if let Occurrence::Named(event) = script.occurrences[id.at()].0 {
                    uses.events.push(event);
                }
            }
        }
    }
    uses
}

impl EvaluationOrder {
    /// The order of evaluation, or all cycles.
    pub(super) fn new(script: &ScriptDef) -> Result<EvaluationOrder, Vec<Cycle>> {
        let ranges = ItemRanges::new(script);
        let mut walk = Walk::default();
        let used: Vec<Uses> = (0..ranges.end).map(|at| uses(script, ranges.item(at), &mut walk)).collect();
        let mut order = EvaluationOrder {
            items: Vec::new(),
            component: Vec::new(),
            reads_old_values: Vec::new(),
            ranges,
        };
        // Assume first that no item reads old values, to find those that must.
        order.reads_old_values.resize(script.conditions.len(), false);
        order.component.resize(ranges.end, u32::MAX);
        for (number, members) in components(&order.graph(script, &used, false)).iter().enumerate() {
            for member in members {
                order.component[*member as usize] = number as u32;
            }
        }
        for id in (0..script.conditions.len() as u32).map(ConditionId) {
            let (item, used) = (Item::Condition(id), &used[ranges.index(Item::Condition(id))]);
            let reads_old = used.unprimed.iter().any(|variable| order.reads_old(item, *variable))
                || used.conditions.iter().any(|other| {
                    order.reads_old_values[other.at()]
                        && order.are_interdependent(item, Item::Condition(*other))
                });
            order.reads_old_values[id.at()] = reads_old;
        }
        let graph = order.graph(script, &used, true);
        let found = components(&graph);
        let mut finder = CycleFinder::new(&graph, &found);
        let mut cycles = Vec::new();
        for members in found {
            let first = members[0];
            if members.len() > 1 || graph[first as usize].contains(&first) {
                let path = finder.cycle_in_component_of(first);
                cycles.push(Cycle::new(script, path.iter().map(|index| ranges.item(*index as usize))));
            } else {
                order.items.push(ranges.item(first as usize));
            }
        }
        if !cycles.is_empty() {
            return Err(cycles);
        }
        // Prints and invocations are last, in the order of the script.
        let assigns = |at: u32| matches!(script.updates[at as usize].action, GuardAction::Assign(..));
        order.items.retain(|item| match *item {
            Item::Auxiliary(_) => false,
            Item::Late(id) => order.reads_old_values[id.at()],
            Item::Update(at) => assigns(at),
            item => root(script, item).is_some(),
        });
        order.items.extend((0..script.updates.len() as u32).filter(|at| !assigns(*at)).map(Item::Update));
        Ok(order)
    }

    /// Whether an item reads the value of an unprimed variable before the instant.
    pub(super) fn reads_old(&self, item: Item, variable: AuxiliaryId) -> bool {
        matches!(item, Item::Update(_)) || self.are_interdependent(item, Item::Auxiliary(variable))
    }

    /// The item whose value `item` reads when it names a condition: the condition itself or its late evaluation.
    pub(super) fn as_read_by(&self, item: Item, condition: ConditionId) -> Item {
        if self.reads_old_values[condition.at()] && !self.are_interdependent(item, Item::Condition(condition))
        {
            Item::Late(condition)
        } else {
            Item::Condition(condition)
        }
    }

    /// Whether two items depend on each other, if none reads old values.
    fn are_interdependent(&self, a: Item, b: Item) -> bool {
        let is_late = |item| matches!(item, Item::Late(_) | Item::Property(_) | Item::Alarm(_));
        !is_late(a) && self.component[self.ranges.index(a)] == self.component[self.ranges.index(b)]
    }

    /// The dependencies of all items. With `old_reads_known` false, no definition reads old values yet.
    fn graph(&self, script: &ScriptDef, used: &[Uses], old_reads_known: bool) -> Vec<Vec<u32>> {
        let ranges = self.ranges;
        let mut last_set: Vec<Option<u32>> = alloc::vec![None; script.auxiliaries.len()];
        let mut graph: Vec<Vec<u32>> = Vec::with_capacity(ranges.end);
        for (at, used) in used.iter().enumerate() {
            let item = ranges.item(at);
            let mut needs: Vec<u32> = Vec::new();
            let mut need = |item: Item| needs.push(ranges.index(item) as u32);
            used.events.iter().for_each(|event| need(Item::Event(*event)));
            used.primed.iter().for_each(|variable| need(Item::Auxiliary(*variable)));
            for condition in &used.conditions {
                need(if old_reads_known {
                    self.as_read_by(item, *condition)
                } else {
                    Item::Condition(*condition)
                });
            }
            for variable in &used.unprimed {
                let old =
                    matches!(item, Item::Update(_)) || old_reads_known && self.reads_old(item, *variable);
                if !old {
                    need(Item::Auxiliary(*variable));
                }
            }
            if let Item::Update(update) = item
                && let GuardAction::Assign(variable, _) = script.updates[update as usize].action
                && let Some(before) = last_set[variable.at()].replace(update)
            {
                need(Item::Update(before));
            }
            graph.push(needs);
        }
        for (at, update) in script.updates.iter().enumerate() {
            if let GuardAction::Assign(variable, _) = update.action {
                let index = ranges.index(Item::Auxiliary(variable));
                graph[index].push(ranges.index(Item::Update(at as u32)) as u32);
            }
        }
        graph
    }
}

impl Cycle {
    fn new(script: &ScriptDef, items: impl Iterator<Item = Item>) -> Cycle {
        let members: Vec<Definition> = items.map(|item| definition(script, item)).collect();
        let names = members.iter().map(|member| member.name(script)).collect();
        Cycle { members, names }
    }
}

/// The name of an item in errors.
pub(super) fn definition(script: &ScriptDef, item: Item) -> Definition {
    match item {
        Item::Event(id) => Definition::Event(id),
        Item::Condition(id) | Item::Late(id) => Definition::Condition(id),
        Item::Auxiliary(id) => Definition::Auxiliary(id),
        Item::Update(at) => Definition::Guard(script.updates[at as usize].guard),
        Item::Property(at) => Definition::Property(at),
        Item::Alarm(at) => Definition::Alarm(at),
    }
}

impl Definition {
    /// Its name in a script, for messages.
    pub fn name(self, script: &ScriptDef) -> String {
        let name = match self {
            Definition::Event(id) => script.events.get(id.at()).map(|event| &event.name),
            Definition::Condition(id) => script.conditions.get(id.at()).map(|condition| &condition.name),
            Definition::Property(at) => script.properties.get(at as usize).map(|(name, _)| name),
            Definition::Alarm(at) => script.alarms.get(at as usize).map(|(name, _)| name),
            Definition::Auxiliary(id) => {
                let variable = script.auxiliaries.get(id.at());
                return variable.map_or_else(String::new, |variable| alloc::format!("`{}'`", variable.name));
            }
            Definition::Guard(id) => {
                let event = script.guards.get(id.at()).and_then(|event| script.events.get(event.at()));
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
    /// let mut script = ScriptDef::default();
    /// let push = script.import_event("push", &[]);
    /// let count = script.auxiliary("count", Type::Int, Value::Int(0))?;
    /// // event few = push when count' < 3;
    /// let (left, right) = (script.primed(count)?, script.constant(Value::Int(3)));
    /// let (push, less) = (script.event(push)?, script.binary(Binary::Less, left, right)?);
    /// let few = script.when(push, less)?;
    /// let few = script.define_event("few", few)?;
    /// // few -> { count' = count + 1; }
    /// let few = script.event(few)?;
    /// let guard = script.guard(few)?;
    /// let (left, right) = (script.unprimed(count)?, script.constant(Value::Int(1)));
    /// let sum = script.binary(Binary::Add, left, right)?;
    /// script.assign(guard, count, sum)?;
    /// let cycles = script.cycles();
    /// assert_eq!(cycles[0].to_string(), "`few` needs `count'` needs the guard of `few` needs `few`");
    /// # Ok::<(), invigil_monitor::mac::DefinitionError>(())
    /// ```
    pub fn cycles(&self) -> Vec<Cycle> {
        EvaluationOrder::new(self).err().unwrap_or_default()
    }
}
