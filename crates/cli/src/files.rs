//! Reads the user's text files as a whole, writes reports, and replaces formatted files atomically.

use crate::CliError;
use crate::terminal::Terminal;
use invigil_expr::diag::SourceId;
use invigil_lang::ltl;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

/// Maximum size of a user's file in bytes. Source positions have 32 bits, and no property is that long.
const MAX_SIZE: u64 = 16 << 20;

/// Name of standard input in messages.
pub(crate) const STDIN: &str = "<standard input>";

/// Whether `path` is `-`, which means standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a user's text file. `kind` names the expected kind of file in messages.
pub(crate) fn read(path: &Path, kind: &str) -> Result<String, CliError> {
    if is_standard(path) {
        return text(io::stdin(), STDIN, kind);
    }
    let name = path.display();
    let opened = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    let file = opened.map_err(|error| match error.kind() {
        ErrorKind::NotFound if is_formula(&name.to_string()) => {
            CliError::new(format_args!("{name}: no such file; to pass a formula, write `ltl:{name}`"))
        }
        ErrorKind::NotFound => CliError::new(format_args!("{name}: no such file; check the path")),
        ErrorKind::IsADirectory => CliError::new(format_args!("{name}: is a directory; name a {kind} in it")),
        ErrorKind::PermissionDenied => {
            CliError::new(format_args!("{name}: permission denied; make the file readable"))
        }
        _ => CliError::new(format_args!("{name}: cannot open the {kind}: {error}")),
    })?;
    text(file, &name.to_string(), kind)
}

/// Whether the name of a missing file is probably a formula without its prefix `ltl:`.
fn is_formula(text: &str) -> bool {
    let has_operator = text.contains([' ', '(', '!', '"']);
    has_operator
        && ltl::parse(SourceId(0), text, 0..text.len(), ltl::FormulaOptions::of_file("")).1.is_empty()
}

/// Reads all text of a reader and validates it: size, encoding, not binary.
pub(crate) fn text(reader: impl Read, name: &str, kind: &str) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    if let Err(error) = reader.take(MAX_SIZE + 1).read_to_end(&mut bytes) {
        return Err(CliError::new(format_args!("{name}: cannot read the {kind}: {error}")));
    }
    if bytes.len() as u64 > MAX_SIZE {
        let max = MAX_SIZE >> 20;
        return Err(CliError::new(format_args!(
            "{name}: the {kind} is larger than {max} MiB; if this is a trace, pass it without `-p`"
        )));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(CliError::new(format_args!(
            "{name}: the {kind} is encoded in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 {name}"
        )));
    }
    if bytes.contains(&0) {
        return Err(CliError::new(format_args!(
            "{name}: binary data instead of a {kind}, which is a text file; check the path"
        )));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        CliError::new(format_args!(
            "{name}:{line}: the {kind} is not valid UTF-8 here; \
             convert it: iconv -f ISO-8859-1 -t UTF-8 {name}"
        ))
    })?;
    // Some editors write a byte order mark at the start of a file.
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// Writes a report to a file, or to standard output for `-`.
pub(crate) fn write(path: &Path, text: &str, terminal: &Terminal) -> Result<(), CliError> {
    if is_standard(path) {
        return terminal.print(text);
    }
    fs::write(path, text).map_err(|error| {
        CliError::new(format_args!("{}: cannot write the file: {error}; choose another path", path.display()))
    })
}

/// Replaces the contents of a file atomically and keeps its permissions.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A symbolic link stays; the file that it points to is replaced.
    let path = path.canonicalize()?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}
