//! The classes on a class path, by name: for users who leave the package out or misspell a name.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// More classes than this are not listed.
const MOST: usize = 200_000;
/// Folders are not followed deeper.
const DEEPEST: usize = 40;
/// A list of an archive longer than this is not read.
const LONGEST: u64 = 256 << 20;

/// The names of all classes in the folders and archives of a class path, as in `app/Queue`. What cannot be read is left
/// out: the virtual machine has the last word.
pub(crate) fn classes(class_path: &str, directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in class_path.split(':') {
        let entry = directory.join(if entry.is_empty() { "." } else { entry });
        if entry.is_dir() {
            in_folder(&entry, &mut names);
        } else if entry.is_file() {
            in_archive(&entry, &mut names);
        }
    }
    names
}

fn in_folder(root: &Path, names: &mut Vec<String>) {
    let mut left: Vec<(PathBuf, String, usize)> = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if names.len() >= MOST {
                return;
            }
            if let Some(class) = name.strip_suffix(".class") {
                names.push(format!("{prefix}{class}"));
            } else if depth < DEEPEST && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push((entry.path(), format!("{prefix}{name}/"), depth + 1));
            }
        }
    }
}

fn in_archive(path: &Path, names: &mut Vec<String>) {
    let listed = File::open(path).ok().and_then(|mut file| directory_of(&mut file));
    for name in listed.iter().flat_map(|directory| entries(directory)) {
        if let Some(class) = name.strip_suffix(".class").filter(|_| names.len() < MOST) {
            names.push(class.to_owned());
        }
    }
}

/// The list of contents at the end of an archive.
fn directory_of(file: &mut (impl Read + Seek)) -> Option<Vec<u8>> {
    let length = file.seek(SeekFrom::End(0)).ok()?;
    // The last record is 22 bytes and a comment.
    let tail = length.min(22 + 0xffff);
    file.seek(SeekFrom::Start(length - tail)).ok()?;
    let mut end = Vec::new();
    file.take(tail).read_to_end(&mut end).ok()?;
    let at = end.windows(4).rposition(|bytes| bytes == b"PK\x05\x06")?;
    let number = |at: usize| Some(u64::from(u32::from_le_bytes(*end.get(at..)?.first_chunk()?)));
    let (size, start) = (number(at + 12)?, number(at + 16)?);
    if size > LONGEST {
        return None;
    }
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut directory = Vec::new();
    file.take(size).read_to_end(&mut directory).ok()?;
    Some(directory)
}

/// The names in such a list.
fn entries(directory: &[u8]) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = directory;
    while rest.starts_with(b"PK\x01\x02") {
        let number = |at: usize| {
            rest.get(at..)
                .and_then(|bytes| bytes.first_chunk())
                .map(|two| usize::from(u16::from_le_bytes(*two)))
        };
        let (Some(name), Some(extra), Some(comment)) = (number(28), number(30), number(32)) else { break };
        if let Some(name) = rest.get(46..46 + name).and_then(|name| std::str::from_utf8(name).ok()) {
            names.push(name);
        }
        let Some(next) = rest.get(46 + name + extra + comment..) else { break };
        rest = next;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// An archive with one empty entry of this name, without compression.
    fn archive(name: &str) -> Vec<u8> {
        let length = (name.len() as u16).to_le_bytes();
        let mut bytes = b"PK\x01\x02".to_vec();
        bytes.extend([0; 24]);
        bytes.extend(length);
        bytes.extend([0; 16]);
        bytes.extend(name.as_bytes());
        let size = (bytes.len() as u32).to_le_bytes();
        bytes.extend(b"PK\x05\x06");
        bytes.extend([0; 8]);
        bytes.extend(size);
        bytes.extend([0; 6]);
        bytes
    }

    #[test]
    fn names_in_an_archive() {
        let directory = directory_of(&mut Cursor::new(archive("app/Queue.class"))).unwrap();
        assert_eq!(entries(&directory), ["app/Queue.class"]);
    }

    #[test]
    fn what_is_no_archive_has_none() {
        for bytes in [
            &b""[..],
            b"PK\x05\x06",
            &[0; 100],
            b"PK\x05\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            let directory = directory_of(&mut Cursor::new(bytes.to_vec())).unwrap_or_default();
            assert!(entries(&directory).is_empty());
        }
        let whole = archive("app/Queue.class");
        for cut in 0..whole.len() {
            let _ = directory_of(&mut Cursor::new(whole[..cut].to_vec())).map(|list| entries(&list).len());
        }
    }

    #[test]
    fn names_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("app/inner")).unwrap();
        fs::write(folder.path().join("app/Queue.class"), "").unwrap();
        fs::write(folder.path().join("app/inner/Two.class"), "").unwrap();
        fs::write(folder.path().join("app/notes.txt"), "").unwrap();
        let mut names = classes(":nowhere:app.jar", folder.path());
        names.sort();
        assert_eq!(names, ["app/Queue", "app/inner/Two"]);
    }
}
