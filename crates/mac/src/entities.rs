//! The monitored entities of a script, by name and by number.

use crate::error::{FormatError, USE_LINES};
use invigil_lang::pedl::{EntityId, MonitoringScript};
use invigil_monitor::mac::{MethodId, Type, VariableId};
use std::collections::HashMap;

/// The first number of an entity in the published format.
pub(crate) const FIRST_NUMBER: usize = 10;
/// The number of entity numbers in the published format: 10 to 127.
const MAX_ENTITIES: usize = 118;

/// The variables and methods that a monitoring script declares, in source order.
#[derive(Clone, Debug, Default)]
pub struct EntityTable {
    list: Vec<Entity>,
    /// By name without blanks, by alias, and for methods also by name without parameters. None if the name is
    /// ambiguous.
    names: HashMap<String, Option<usize>>,
    numbers: HashMap<MonitoredId, usize>,
}

/// A monitored entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// The name in the program, as written in the script.
    pub name: String,
    /// The variable or method of the recogniser.
    pub id: MonitoredId,
    /// The type of the variable or of the method's result.
    pub ty: Option<Type>,
    /// The types of the method's parameters; none for an object.
    pub parameters: Vec<Option<Type>>,
}

/// A variable or a method of the recogniser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MonitoredId {
    /// A variable.
    Variable(VariableId),
    /// A method.
    Method(MethodId),
}

impl EntityTable {
    /// The entities of a script.
    ///
    /// ```
    /// use invigil_expr::diag::SourceId;
    /// use invigil_lang::pedl;
    /// use invigil_mac::EntityTable;
    ///
    /// let text = "MonScr  monmeth void Gate.move(int);  monobj int p <- Gate.pos;
    ///             event e = startM(Gate.move(int)) when p > 3;  export event e;  End";
    /// let lowered = pedl::lower(&pedl::parse(SourceId(0), text).0, &|_| None).0.unwrap();
    /// let entities = EntityTable::of(&lowered);
    /// assert_eq!(entities.find("p"), entities.find("Gate.pos"));
    /// assert_eq!(entities.find("Gate.move"), entities.find("Gate.move(int)"));
    /// assert!(entities.find("Gate.speed").is_err());
    /// ```
    pub fn of(script: &MonitoringScript) -> EntityTable {
        let mut table = EntityTable::default();
        for entity in &script.entities {
            let (id, parameters) = match entity.id {
                EntityId::Variable(variable) => (MonitoredId::Variable(variable), Vec::new()),
                EntityId::Method(method) => {
                    let declared = script.parts.methods().get(method.0 as usize);
                    let parameters = declared.map(|method| method.parameters.clone());
                    (MonitoredId::Method(method), parameters.unwrap_or_default())
                }
            };
            let ty = entity.ty.as_ref().and_then(|ty| ty.script_type());
            let name = entity.path.to_string();
            let number = table.list.len();
            let short_name =
                matches!(id, MonitoredId::Method(_)).then(|| without_parameters(&name).to_owned());
            table.names.insert(without_blanks(&name), Some(number));
            for name in entity
                .alias
                .iter()
                .map(|alias| without_blanks(alias))
                .chain(short_name.map(|name| without_blanks(&name)))
            {
                // A name that two methods share is ambiguous.
                table
                    .names
                    .entry(name)
                    .and_modify(|entry| *entry = entry.filter(|n| *n == number))
                    .or_insert(Some(number));
            }
            table.numbers.insert(id, number);
            table.list.push(Entity { name, id, ty, parameters });
        }
        table
    }

    /// All entities.
    pub fn list(&self) -> &[Entity] {
        &self.list
    }

    /// Finds an entity by its name in a filter's output; otherwise, returns an error message.
    pub fn find(&self, name: &str) -> Result<&Entity, String> {
        match self.names.get(name).or_else(|| self.names.get(&without_blanks(name))) {
            Some(Some(number)) => Ok(&self.list[*number]),
            Some(None) => Err(format!("`{name}` is ambiguous; add the parameter types")),
            None => {
                let known = self.list.iter().map(|entity| entity.name.as_str());
                let nearest = invigil_expr::diag::nearest(name, known);
                Err(match nearest {
                    Some(nearest) => {
                        format!("the script does not monitor `{name}`; did you mean `{nearest}`?")
                    }
                    None => {
                        format!("the script does not monitor `{name}`; declare it there, or do not send it")
                    }
                })
            }
        }
    }

    /// The entity of a variable or method of the recogniser.
    pub fn get(&self, id: MonitoredId) -> Option<&Entity> {
        self.numbers.get(&id).map(|number| &self.list[*number])
    }

    /// The number in the published format.
    pub(crate) fn number(&self, id: MonitoredId) -> Option<u8> {
        u8::try_from(self.numbers.get(&id)? + FIRST_NUMBER).ok().filter(|number| *number <= 127)
    }

    /// The entity with a number of the published format.
    pub(crate) fn by_number(&self, number: u8) -> Option<&Entity> {
        self.list.get(usize::from(number).checked_sub(FIRST_NUMBER)?)
    }

    /// Checks that the published format has numbers for all entities.
    pub fn check_byte_format(&self) -> Result<(), FormatError> {
        let count = self.list.len();
        if count <= MAX_ENTITIES {
            return Ok(());
        }
        Err(FormatError(format!(
            "the script monitors {count} variables and methods, but the byte format has numbers for {MAX_ENTITIES}; {USE_LINES}"
        )))
    }
}

/// Normalizes a name for comparison: blanks are ignored.
fn without_blanks(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The name of a method without its parameters: `Gate.move` for `Gate.move(int)`.
pub(crate) fn without_parameters(name: &str) -> &str {
    match (name.ends_with(')'), name.rfind('(')) {
        (true, Some(at)) => &name[..at],
        _ => name,
    }
}
