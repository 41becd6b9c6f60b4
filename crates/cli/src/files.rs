//! Files that users write, read as a whole; and reports and properties written back without ever leaving
//! half a file.

use crate::Trouble;
use crate::terminal::Terminal;
use invigil_expr::diag::SourceId;
use invigil_lang::ltl;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

/// Nobody writes a longer property by hand, and places in it are numbers of 32 bits.
const LARGEST: u64 = 16 << 20;

/// What messages call standard input.
pub(crate) const STDIN: &str = "<standard input>";

/// Whether `path` stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// The text of a file of the user's; what kind of file it should be is for the message.
pub(crate) fn read(path: &Path, kind: &str) -> Result<String, Trouble> {
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
            Trouble::new(format_args!("{name}: there is no such file; a formula is written `ltl:{name}`"))
        }
        ErrorKind::NotFound => Trouble::new(format_args!("{name}: there is no such file; check the path")),
        ErrorKind::IsADirectory => {
            Trouble::new(format_args!("{name}: this is a directory; name the {kind} in it"))
        }
        ErrorKind::PermissionDenied => {
            Trouble::new(format_args!("{name}: not allowed to read the file; make it readable"))
        }
        _ => Trouble::new(format_args!("{name}: cannot open the {kind}: {error}")),
    })?;
    text(file, &name.to_string(), kind)
}

/// Whether a text that should be the name of a file is probably a formula.
fn is_formula(text: &str) -> bool {
    let looks_so = text.contains([' ', '(', '!', '"']);
    looks_so && ltl::parse(SourceId(0), text, 0..text.len(), ltl::Manner::of_file("")).1.is_empty()
}

/// All text of a reader.
pub(crate) fn text(reader: impl Read, name: &str, kind: &str) -> Result<String, Trouble> {
    let mut bytes = Vec::new();
    if let Err(error) = reader.take(LARGEST + 1).read_to_end(&mut bytes) {
        return Err(Trouble::new(format_args!("{name}: cannot read the {kind}: {error}")));
    }
    if bytes.len() as u64 > LARGEST {
        let most = LARGEST >> 20;
        return Err(Trouble::new(format_args!(
            "{name}: a {kind} of more than {most} MiB is not read; is this a trace? those come without `-p`"
        )));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Trouble::new(format_args!(
            "{name}: the {kind} is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 {name}"
        )));
    }
    if bytes.contains(&0) {
        return Err(Trouble::new(format_args!(
            "{name}: this is not a {kind} but binary data; a {kind} is a text file, check the path"
        )));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Trouble::new(format_args!(
            "{name}:{line}: the {kind} is not UTF-8 text from here on; \
             convert it: iconv -f ISO-8859-1 -t UTF-8 {name}"
        ))
    })?;
    // Some editors begin a file with a byte order mark.
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// Writes a report where the user wants it: to a file, or to standard output for `-`.
pub(crate) fn write(path: &Path, text: &str, terminal: &Terminal) -> Result<(), Trouble> {
    if is_standard(path) {
        return terminal.print(text);
    }
    fs::write(path, text).map_err(|error| {
        Trouble::new(format_args!("{}: cannot write the file: {error}; choose another place", path.display()))
    })
}

/// Replaces the contents of a file at once: it is never seen half written, and keeps its permissions.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // The file that a link points to is the one to replace.
    let path = path.canonicalize()?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}
