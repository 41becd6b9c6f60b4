//! Resolves the user's text for a location: a function, line or address (gdb: linespec).

use invigil_debuginfo::machine::Memory;
use invigil_debuginfo::program::{Function, Line, Program};
use std::sync::Arc;

/// What a location text refers to.
pub(crate) enum ResolvedLocation {
    /// Functions: all overloads, instances and copies.
    Functions(Vec<Function>),
    /// Addresses.
    Addresses(Vec<u64>),
}

impl ResolvedLocation {
    /// Addresses at which a breakpoint for it is set.
    pub(crate) fn addresses(&self) -> Vec<u64> {
        match self {
            ResolvedLocation::Addresses(addresses) => addresses.clone(),
            ResolvedLocation::Functions(functions) => functions
                .iter()
                .flat_map(|function| {
                    function.entry.into_iter().chain(function.inlined.iter().map(|copy| copy.entry))
                })
                .collect(),
        }
    }
}

/// Error: nothing has this name; with a suggestion.
#[derive(Debug)]
pub(crate) struct UnknownLocation {
    pub(crate) reason: String,
    pub(crate) help: String,
    /// Whether it may be pending: a library that is loaded later may define it.
    pub(crate) may_become_pending: bool,
}

impl UnknownLocation {
    fn new(reason: String, help: String) -> UnknownLocation {
        UnknownLocation { reason, help, may_become_pending: false }
    }

    /// The error and the suggestion in one line.
    pub(crate) fn message(self) -> String {
        if self.help.is_empty() { self.reason } else { format!("{}; {}", self.reason, self.help) }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Error for a line number that no file can have.
fn no_such_line(number: &str) -> UnknownLocation {
    UnknownLocation::new(format!("no file has a line {number}"), String::new())
}

/// Resolves a function (`queue_push`), a line (`faulty.c:32`, or `32` in the file of `current_line`), or an address
/// (`*0x401136`).
pub(crate) fn resolve(
    program: &Program,
    memory: &dyn Memory,
    current_line: Option<&Line>,
    name: &str,
) -> Result<ResolvedLocation, UnknownLocation> {
    let name = name.trim();
    if let Some(address) = name.strip_prefix('*') {
        return at_address(program, memory, address.trim());
    }
    if let Ok(line) = name.parse::<u32>() {
        let Some(current_line) = current_line else {
            let help = "name the file as well: `file.c:32`".to_owned();
            return Err(UnknownLocation::new(format!("there is no current file for line {line}"), help));
        };
        return at_line(program, &current_line.file.to_string_lossy(), line);
    }
    if is_digits(name) {
        return Err(no_such_line(name));
    }
    if let Some((file, line)) = name.rsplit_once(':')
        && is_digits(line)
        && !file.ends_with(':')
    {
        let line = line.parse().map_err(|_| no_such_line(line))?;
        return at_line(program, file, line);
    }
    let functions: Vec<Function> =
        program.functions(name).into_iter().filter(|function| !function.is_resolver).collect();
    if functions.is_empty() {
        return Err(UnknownLocation {
            reason: format!("there is no function `{name}` in the program"),
            help: suggestion(program, name),
            may_become_pending: true,
        });
    }
    // A program's own function takes precedence over library functions of the same name, as it does for the linker.
    let main = program.images().first();
    let is_own =
        |function: &Function| main.is_some_and(|main| Arc::ptr_eq(&main.image, &function.mapped.image));
    let has_own = functions.iter().any(is_own);
    let functions: Vec<Function> =
        functions.into_iter().filter(|function| is_own(function) || !has_own).collect();
    // A definition with debug information makes symbols of stubs redundant.
    let has_described = functions.iter().any(|function| function.has_debug);
    Ok(ResolvedLocation::Functions(
        functions.into_iter().filter(|function| function.has_debug || !has_described).collect(),
    ))
}

fn at_address(
    program: &Program,
    memory: &dyn Memory,
    text: &str,
) -> Result<ResolvedLocation, UnknownLocation> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let Some(address) = number else {
        let help = "write it as `*0x401136`".to_owned();
        return Err(UnknownLocation::new(format!("`{text}` is not an address"), help));
    };
    let mut byte = [0];
    if !program.is_code(address) && memory.read(address, &mut byte).is_err() {
        return Err(UnknownLocation::new(format!("there is no code at {address:#x}"), String::new()));
    }
    Ok(ResolvedLocation::Addresses(vec![address]))
}

fn at_line(program: &Program, file: &str, line: u32) -> Result<ResolvedLocation, UnknownLocation> {
    let locations = program.addresses_of(file, line);
    if locations.is_empty() {
        let help = match program.addresses_of(file, 1).first() {
            Some(first) => format!("the first line of `{file}` with code is {}", first.line.line),
            None => "no file of that name has debug information: compile with `-g`".to_owned(),
        };
        return Err(UnknownLocation::new(format!("there is no code for line {line} of `{file}`"), help));
    }
    Ok(ResolvedLocation::Addresses(locations.into_iter().map(|location| location.address).collect()))
}

/// Suggests the known names nearest to an unknown one.
fn suggestion(program: &Program, name: &str) -> String {
    match program.similar(name, 3).as_slice() {
        [] => String::new(),
        [one] => format!("did you mean `{one}`?"),
        all => {
            let names: Vec<String> = all.iter().map(|name| format!("`{name}`")).collect();
            format!("did you mean {}?", names.join(" or "))
        }
    }
}
