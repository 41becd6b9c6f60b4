//! Places in the code, as a user names them.

use invigil_debuginfo::machine::Memory;
use invigil_debuginfo::program::{Function, Line, Program};
use std::sync::Arc;

/// What a name stands for.
pub(crate) enum Found {
    /// Functions: all overloads, instances and copies.
    Functions(Vec<Function>),
    /// Places in the code.
    Addresses(Vec<u64>),
}

impl Found {
    /// The addresses at which a point for it goes.
    pub(crate) fn addresses(&self) -> Vec<u64> {
        match self {
            Found::Addresses(addresses) => addresses.clone(),
            Found::Functions(functions) => functions
                .iter()
                .flat_map(|function| {
                    function.entry.into_iter().chain(function.inlined.iter().map(|copy| copy.entry))
                })
                .collect(),
        }
    }
}

/// Why there is nothing of that name, and what may have been meant.
#[derive(Debug)]
pub(crate) struct Missing {
    pub(crate) reason: String,
    pub(crate) help: String,
    /// Whether a library that is loaded later may have it.
    pub(crate) may_come: bool,
}

impl Missing {
    fn new(reason: String, help: String) -> Missing {
        Missing { reason, help, may_come: false }
    }

    /// All of it, in one line.
    pub(crate) fn words(self) -> String {
        if self.help.is_empty() { self.reason } else { format!("{}; {}", self.reason, self.help) }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of a line that no file can have.
fn no_line(number: &str) -> Missing {
    Missing::new(format!("no file has a line {number}"), String::new())
}

/// Finds a function (`queue_push`), a line (`faulty.c:32`, or `32` in the file of `here`), or an address
/// (`*0x401136`).
pub(crate) fn find(
    program: &Program,
    memory: &dyn Memory,
    here: Option<&Line>,
    name: &str,
) -> Result<Found, Missing> {
    let name = name.trim();
    if let Some(address) = name.strip_prefix('*') {
        return at_address(program, memory, address.trim());
    }
    if let Ok(line) = name.parse::<u32>() {
        let Some(here) = here else {
            let help = "name the file, too: `file.c:32`".to_owned();
            return Err(Missing::new(format!("line {line} of which file?"), help));
        };
        return at_line(program, &here.file.to_string_lossy(), line);
    }
    if is_number(name) {
        return Err(no_line(name));
    }
    if let Some((file, line)) = name.rsplit_once(':')
        && is_number(line)
        && !file.ends_with(':')
    {
        let line = line.parse().map_err(|_| no_line(line))?;
        return at_line(program, file, line);
    }
    let functions: Vec<Function> =
        program.functions(name).into_iter().filter(|function| !function.is_resolver).collect();
    if functions.is_empty() {
        return Err(Missing {
            reason: format!("there is no function `{name}` in the program"),
            help: meant(program, name),
            may_come: true,
        });
    }
    // A program calls its own function, whatever its libraries have of the same name, and so does its user.
    let main = program.images().first();
    let is_own =
        |function: &Function| main.is_some_and(|main| Arc::ptr_eq(&main.image, &function.loaded.image));
    let has_own = functions.iter().any(is_own);
    let functions: Vec<Function> =
        functions.into_iter().filter(|function| is_own(function) || !has_own).collect();
    // A definition with debug information makes the symbols of stubs and the like superfluous.
    let described = functions.iter().any(|function| function.has_debug);
    Ok(Found::Functions(functions.into_iter().filter(|function| function.has_debug || !described).collect()))
}

fn at_address(program: &Program, memory: &dyn Memory, text: &str) -> Result<Found, Missing> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let Some(address) = number else {
        let help = "write it as `*0x401136`".to_owned();
        return Err(Missing::new(format!("`{text}` is no address"), help));
    };
    let mut byte = [0];
    if !program.is_code(address) && memory.read(address, &mut byte).is_err() {
        return Err(Missing::new(format!("there is no code at {address:#x}"), String::new()));
    }
    Ok(Found::Addresses(vec![address]))
}

fn at_line(program: &Program, file: &str, line: u32) -> Result<Found, Missing> {
    let places = program.addresses_of(file, line);
    if places.is_empty() {
        let help = match program.addresses_of(file, 1).first() {
            Some(first) => format!("the first line of `{file}` with code is {}", first.line.line),
            None => "no file of that name has debug information: compile with `-g`".to_owned(),
        };
        return Err(Missing::new(format!("there is no code for line {line} of `{file}`"), help));
    }
    Ok(Found::Addresses(places.into_iter().map(|place| place.address).collect()))
}

/// The names that are nearest to one that is not there.
fn meant(program: &Program, name: &str) -> String {
    match program.similar(name, 3).as_slice() {
        [] => String::new(),
        [one] => format!("did you mean `{one}`?"),
        all => {
            let names: Vec<String> = all.iter().map(|name| format!("`{name}`")).collect();
            format!("did you mean {}?", names.join(" or "))
        }
    }
}
