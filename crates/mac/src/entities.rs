//! What a filter may talk about, by name and by number.

use crate::problem::{Limit, USE_LINES};
use invigil_lang::pedl::{Id, Lowered};
use invigil_monitor::mac::{MethodId, Type, VariableId};
use std::collections::HashMap;

/// The first number of the published format that stands for an entity.
pub(crate) const FIRST: usize = 10;
/// How many entities there are numbers for: 10 to 127.
const MOST: usize = 118;

/// The variables and methods that a monitoring script watches, in the order written.
#[derive(Clone, Debug, Default)]
pub struct Entities {
    list: Vec<Entity>,
    /// By name without blanks, by alias, and of methods also by name without parameters.
    names: HashMap<String, Option<usize>>,
    numbers: HashMap<Watched, usize>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// Its name in the program, as the script has it.
    pub name: String,
    /// Which variable or method of the recogniser it is.
    pub watched: Watched,
    /// The type of the variable, or of what the method returns.
    pub ty: Option<Type>,
    /// The types of a method's parameters; nothing for an object.
    pub parameters: Vec<Option<Type>>,
}

/// A variable or a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Watched {
    /// A variable.
    Variable(VariableId),
    /// A method.
    Method(MethodId),
}

impl Entities {
    /// What a script watches.
    ///
    /// ```
    /// use invigil_expr::diag::SourceId;
    /// use invigil_lang::pedl;
    /// use invigil_mac::Entities;
    ///
    /// let text = "MonScr  monmeth void Gate.move(int);  monobj int p <- Gate.pos;
    ///             event e = startM(Gate.move(int)) when p > 3;  export event e;  End";
    /// let lowered = pedl::lower(&pedl::parse(SourceId(0), text).0, &|_| None).0.unwrap();
    /// let entities = Entities::of(&lowered);
    /// assert_eq!(entities.find("p"), entities.find("Gate.pos"));
    /// assert_eq!(entities.find("Gate.move"), entities.find("Gate.move(int)"));
    /// assert!(entities.find("Gate.speed").is_err());
    /// ```
    pub fn of(script: &Lowered) -> Entities {
        let mut all = Entities::default();
        for entity in &script.entities {
            let (watched, parameters) = match entity.id {
                Id::Variable(variable) => (Watched::Variable(variable), Vec::new()),
                Id::Method(method) => {
                    let declared = script.parts.methods().get(method.0 as usize);
                    let parameters = declared.map(|method| method.parameters.clone());
                    (Watched::Method(method), parameters.unwrap_or_default())
                }
            };
            let ty = entity.ty.as_ref().and_then(|ty| ty.known());
            let name = entity.path.to_string();
            let number = all.list.len();
            let short = matches!(watched, Watched::Method(_)).then(|| without_parameters(&name).to_owned());
            all.names.insert(plain(&name), Some(number));
            for other in entity.alias.iter().map(|alias| plain(alias)).chain(short.map(|name| plain(&name))) {
                // A name that two methods have is none.
                all.names
                    .entry(other)
                    .and_modify(|known| *known = known.filter(|n| *n == number))
                    .or_insert(Some(number));
            }
            all.numbers.insert(watched, number);
            all.list.push(Entity { name, watched, ty, parameters });
        }
        all
    }

    /// All of them.
    pub fn list(&self) -> &[Entity] {
        &self.list
    }

    /// The entity that a filter calls by this name; otherwise, what to say about it.
    pub fn find(&self, name: &str) -> Result<&Entity, String> {
        match self.names.get(name).or_else(|| self.names.get(&plain(name))) {
            Some(Some(number)) => Ok(&self.list[*number]),
            Some(None) => {
                Err(format!("several methods are called `{name}`; write the types of its parameters too"))
            }
            None => {
                let known = self.list.iter().map(|entity| entity.name.as_str());
                let meant = invigil_expr::diag::nearest(name, known);
                Err(match meant {
                    Some(meant) => format!("the script does not watch `{name}`; did you mean `{meant}`?"),
                    None => {
                        format!("the script does not watch `{name}`; declare it there, or do not send it")
                    }
                })
            }
        }
    }

    /// The entity behind a variable or method of the recogniser.
    pub fn get(&self, watched: Watched) -> Option<&Entity> {
        self.numbers.get(&watched).map(|number| &self.list[*number])
    }

    /// The number in the published format.
    pub(crate) fn number(&self, watched: Watched) -> Option<u8> {
        u8::try_from(self.numbers.get(&watched)? + FIRST).ok().filter(|number| *number <= 127)
    }

    /// The entity with a number of the published format.
    pub(crate) fn numbered(&self, number: u8) -> Option<&Entity> {
        self.list.get(usize::from(number).checked_sub(FIRST)?)
    }

    /// Whether the published format has numbers for all.
    pub fn fit_bytes(&self) -> Result<(), Limit> {
        let count = self.list.len();
        if count <= MOST {
            return Ok(());
        }
        Err(Limit(format!(
            "the script watches {count} variables and methods, and the byte format has numbers for {MOST}; {USE_LINES}"
        )))
    }
}

/// A name as it is compared: blanks do not count.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).collect()
}

/// `Gate.move` of `Gate.move(int)`.
pub(crate) fn without_parameters(name: &str) -> &str {
    match (name.ends_with(')'), name.rfind('(')) {
        (true, Some(at)) => &name[..at],
        _ => name,
    }
}
