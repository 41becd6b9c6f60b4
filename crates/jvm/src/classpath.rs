//! The classes on a class path: for the names that users write, and for what class files reveal before a program runs.
//!
//! Archives are read by hand because only directories and single classes are needed, and `flate2` is there already.

use invigil_weave::Class;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Maximum number of classes that are listed.
const MAX_CLASSES: usize = 200_000;
/// Maximum depth of directories.
const MAX_DEPTH: usize = 40;
/// Maximum size of an archive's central directory.
const MAX_DIRECTORY_SIZE: u64 = 256 << 20;
/// Maximum size of a class file.
const MAX_CLASS_SIZE: u64 = 64 << 20;

/// The classes of a program: directories and archives.
///
/// ```no_run
/// use invigil_jvm::ClassPath;
/// let path = ClassPath::new("classes:lib/tools.jar", std::path::Path::new("."));
/// assert_eq!(path.class("app/Queue").unwrap().name, "app/Queue");
/// ```
#[derive(Debug)]
pub struct ClassPath {
    entries: Vec<Entry>,
}

#[derive(Debug)]
enum Entry {
    Folder { root: PathBuf, classes: Vec<String> },
    Archive { file: PathBuf, members: Vec<Member> },
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    name: String,
    is_deflated: bool,
    packed_size: u64,
    unpacked_size: u64,
    /// The position of its local header.
    header_at: u64,
}

impl ClassPath {
    /// Lists the classes of a class path, which is relative to a directory. Unreadable entries are skipped: the
    /// virtual machine decides what to do about them.
    pub fn new(class_path: &str, directory: &Path) -> ClassPath {
        let mut left = MAX_CLASSES;
        let mut entries = Vec::new();
        for entry in class_path.split(':') {
            let path = directory.join(if entry.is_empty() { "." } else { entry });
            if path.is_dir() {
                let classes = classes_in_folder(&path, left);
                left -= classes.len();
                entries.push(Entry::Folder { root: path, classes });
            } else if path.is_file() {
                let listed = File::open(&path).ok().and_then(|mut file| directory_of(&mut file));
                let mut members = members(&listed.unwrap_or_default());
                members.retain(|member| member.name.ends_with(CLASS));
                members.truncate(left);
                left -= members.len();
                entries.push(Entry::Archive { file: path, members });
            }
        }
        ClassPath { entries }
    }

    /// The names of all classes, as in `app/Queue`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().flat_map(|entry| -> Box<dyn Iterator<Item = &str>> {
            match entry {
                Entry::Folder { classes, .. } => Box::new(classes.iter().map(String::as_str)),
                Entry::Archive { members, .. } => {
                    Box::new(members.iter().map(|member| member.name.trim_end_matches(CLASS)))
                }
            }
        })
    }

    /// The content of a class file, by a name such as `app/Queue`.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Folder { root, classes } => classes.iter().any(|class| class == name).then(|| {
                let mut bytes = Vec::new();
                let file = File::open(root.join(format!("{name}{CLASS}"))).ok()?;
                file.take(MAX_CLASS_SIZE).read_to_end(&mut bytes).ok()?;
                Some(bytes)
            })?,
            Entry::Archive { file, members } => {
                let is_it = |member: &&Member| member.name.strip_suffix(CLASS) == Some(name);
                unpacked(&mut File::open(file).ok()?, members.iter().find(is_it)?)
            }
        })
    }

    /// A class by a name such as `app/Queue`. `None` if it does not exist, or is malformed.
    pub fn class(&self, name: &str) -> Option<Class> {
        Class::read(&self.bytes(name)?).ok()
    }
}

const CLASS: &str = ".class";

fn classes_in_folder(root: &Path, limit: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut pending: Vec<(PathBuf, String, usize)> = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = pending.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if names.len() >= limit {
                return names;
            }
            if let Some(class) = name.strip_suffix(CLASS) {
                names.push(format!("{prefix}{class}"));
            } else if depth < MAX_DEPTH && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push((entry.path(), format!("{prefix}{name}/"), depth + 1));
            }
        }
    }
    names
}

/// The central directory of an archive.
fn directory_of(file: &mut (impl Read + Seek)) -> Option<Vec<u8>> {
    let length = file.seek(SeekFrom::End(0)).ok()?;
    // The last record has 22 bytes and a comment.
    let tail = length.min(22 + 0xffff);
    file.seek(SeekFrom::Start(length - tail)).ok()?;
    let mut end = Vec::new();
    file.take(tail).read_to_end(&mut end).ok()?;
    let at = end.windows(4).rposition(|bytes| bytes == b"PK\x05\x06")?;
    let (size, start) = (u32_at(&end, at + 12)?, u32_at(&end, at + 16)?);
    if size > MAX_DIRECTORY_SIZE {
        return None;
    }
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut directory = Vec::new();
    file.take(size).read_to_end(&mut directory).ok()?;
    Some(directory)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)))
}

/// The files in a central directory.
fn members(directory: &[u8]) -> Vec<Member> {
    let mut members = Vec::new();
    let mut rest = directory;
    while rest.starts_with(b"PK\x01\x02") {
        let (Some(name), Some(extra), Some(comment)) = (u16_at(rest, 28), u16_at(rest, 30), u16_at(rest, 32))
        else {
            break;
        };
        let member = || {
            Some(Member {
                name: std::str::from_utf8(rest.get(46..46 + name)?).ok()?.to_owned(),
                is_deflated: u16_at(rest, 10)? == 8,
                packed_size: u32_at(rest, 20)?,
                unpacked_size: u32_at(rest, 24)?,
                header_at: u32_at(rest, 42)?,
            })
        };
        members.extend(member());
        let Some(next) = rest.get(46 + name + extra + comment..) else { break };
        rest = next;
    }
    members
}

/// The uncompressed content of a file in an archive.
fn unpacked(archive: &mut (impl Read + Seek), member: &Member) -> Option<Vec<u8>> {
    if member.packed_size > MAX_CLASS_SIZE || member.unpacked_size > MAX_CLASS_SIZE {
        return None;
    }
    archive.seek(SeekFrom::Start(member.header_at)).ok()?;
    let mut head = [0; 30];
    archive.read_exact(&mut head).ok()?;
    archive.seek(SeekFrom::Current((u16_at(&head, 26)? + u16_at(&head, 28)?) as i64)).ok()?;
    let mut bytes = Vec::new();
    let packed = archive.take(member.packed_size);
    match member.is_deflated {
        true => {
            flate2::read::DeflateDecoder::new(packed).take(MAX_CLASS_SIZE).read_to_end(&mut bytes).ok()?
        }
        false => { packed }.read_to_end(&mut bytes).ok()?,
    };
    Some(bytes)
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
    fn archive_classes_are_listed() {
        let directory = directory_of(&mut Cursor::new(archive("app/Queue.class"))).unwrap();
        let names: Vec<String> = members(&directory).into_iter().map(|member| member.name).collect();
        assert_eq!(names, ["app/Queue.class"]);
    }

    #[test]
    fn malformed_archives_have_no_members() {
        for bytes in [
            &b""[..],
            b"PK\x05\x06",
            &[0; 100],
            b"PK\x05\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            let directory = directory_of(&mut Cursor::new(bytes.to_vec())).unwrap_or_default();
            assert!(members(&directory).is_empty());
        }
        let whole = archive("app/Queue.class");
        for cut in 0..whole.len() {
            let _ = directory_of(&mut Cursor::new(whole[..cut].to_vec())).map(|list| members(&list).len());
        }
    }

    #[test]
    fn directory_classes_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("app/inner")).unwrap();
        fs::write(folder.path().join("app/Queue.class"), "").unwrap();
        fs::write(folder.path().join("app/inner/Two.class"), "").unwrap();
        fs::write(folder.path().join("app/notes.txt"), "").unwrap();
        let path = ClassPath::new(":nowhere:app.jar", folder.path());
        let mut names: Vec<&str> = path.names().collect();
        names.sort_unstable();
        assert_eq!(names, ["app/Queue", "app/inner/Two"]);
    }
}
