//! What a checkpoint cannot bring back, in words.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nix::unistd::Pid;

use super::process::Place;

/// What can only be seen in the live process at the moment of the checkpoint: a copy has none of it.
pub(super) struct Lost {
    timers: usize,
    children: Vec<String>,
    locks: usize,
    /// The size of the address space in bytes.
    size: u64,
    terminal: bool,
}

impl Lost {
    /// Looks at the live process. A handful of small reads: this is part of every checkpoint.
    pub(super) fn of(process: Pid, threads: &[Pid], place: &Place, has_files: bool) -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
        let children = threads.iter().flat_map(|tid| {
            let list = read(&format!("task/{tid}/children"));
            list.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()
        });
        Self {
            timers: read("timers").lines().filter(|line| line.starts_with("ID:")).count(),
            children: children.collect(),
            locks: if has_files { locks(process) } else { 0 },
            size: place.size,
            terminal: place.leads_session && place.has_terminal,
        }
    }

    fn tell(&self, copy: Pid, told: &mut Vec<String>) {
        if self.timers > 0 {
            let what = plural(self.timers, "timer", "timers");
            told.push(format!("{what} of the program (timer_create): they are not set again"));
        }
        if !self.children.is_empty() {
            let which = self.children.join(", ");
            let what = plural(self.children.len(), "child process", "child processes");
            told.push(format!(
                "{what} ({which}): not part of the checkpoint, and nobody's children \
                 after a restore"
            ));
        }
        if self.locks > 0 {
            let what = plural(self.locks, "lock on a file", "locks on files");
            told.push(format!("{what} (fcntl): not held after a restore"));
        }
        let missing = size(copy).map_or(0, |size| self.size.saturating_sub(size) / 1024);
        if missing > 0 {
            told.push(format!(
                "{missing} KiB of memory that the program keeps out of copies (MADV_DONTFORK): \
                 missing after a restore"
            ));
        }
        if self.terminal {
            told.push(
                "the program leads the session of its terminal: a restore takes the terminal away".into(),
            );
        }
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How many locks on files the process itself holds. Those of an open file live on in the copy.
fn locks(process: Pid) -> usize {
    let all = fs::read_to_string("/proc/locks").unwrap_or_default();
    let own = process.to_string();
    all.lines()
        .filter(|line| line.contains("POSIX") && line.split_ascii_whitespace().nth(4) == Some(&own))
        .count()
}

/// The size of the address space in bytes.
fn size(process: Pid) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    Some(text.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 4096)
}

/// All that will not come back. The descriptors and the memory are looked up in the copy, where they are as
/// they were.
pub(super) fn of(copy: Pid, lost: &Lost) -> Vec<String> {
    let mut told = Vec::new();
    descriptors(copy, &mut told);
    shared_memory(copy, &mut told);
    lost.tell(copy, &mut told);
    told
}

fn descriptors(copy: Pid, told: &mut Vec<String>) {
    let mut kinds: BTreeMap<&'static str, Vec<i32>> = BTreeMap::new();
    let directory = fs::read_dir(format!("/proc/{copy}/fd"));
    let mut entries: Vec<_> = directory
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse::<i32>().ok()?, entry.path())))
        .collect();
    entries.sort();
    let mut written: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for (number, path) in entries {
        let Ok(target) = fs::read_link(&path) else { continue };
        let target = target.to_string_lossy().into_owned();
        if let Some(kind) = kind(&target) {
            kinds.entry(kind).or_default().push(number);
        } else if fs::metadata(&path).is_ok_and(|kind| kind.is_file()) && is_written(copy, number) {
            written.entry(short(&target)).or_default().push(number);
        }
    }
    for (name, numbers) in written {
        told.push(format!(
            "{name} is open for writing ({}): what is written after the checkpoint stays",
            named(&numbers)
        ));
    }
    for (kind, numbers) in kinds {
        told.push(format!("{} {kind}", named(&numbers)));
    }
}

/// What becomes of a descriptor that is no file, by what the kernel calls it.
fn kind(target: &str) -> Option<&'static str> {
    let of_pipe = "(pipe): bytes read or written after the checkpoint stay so, and the other end \
                   sees no end while the checkpoint exists";
    let of_socket = "(socket): what is sent or received after the checkpoint stays so, and the other \
                     end sees no end while the checkpoint exists";
    Some(match target {
        _ if target.starts_with("pipe:") => of_pipe,
        _ if target.starts_with("socket:") => of_socket,
        _ if target.starts_with("/dev/tty") || target.starts_with("/dev/pts/") => {
            "(terminal): what is printed or typed after the checkpoint stays so"
        }
        "anon_inode:[eventfd]" => "(eventfd): its count stays as it is at the restore",
        "anon_inode:[timerfd]" => "(timerfd): it goes on and is not set back",
        "anon_inode:[eventpoll]" => "(epoll): what it waits for stays as it is at the restore",
        "anon_inode:[io_uring]" => {
            "(io_uring): its rings are shared with the checkpoint and are not set back"
        }
        "anon_inode:inotify" => "(inotify): events read after the checkpoint do not come again",
        _ => return None,
    })
}

fn named(numbers: &[i32]) -> String {
    let list = numbers.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    if numbers.len() == 1 { format!("descriptor {list}") } else { format!("descriptors {list}") }
}

fn short(target: &str) -> String {
    Path::new(target)
        .file_name()
        .map_or_else(|| target.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn is_written(copy: Pid, number: i32) -> bool {
    let information = fs::read_to_string(format!("/proc/{copy}/fdinfo/{number}")).unwrap_or_default();
    information
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

fn shared_memory(copy: Pid, told: &mut Vec<String>) {
    let maps = fs::read_to_string(format!("/proc/{copy}/maps")).unwrap_or_default();
    let mut areas: BTreeMap<String, u64> = BTreeMap::new();
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(range), Some(rights)) = (fields.next(), fields.next()) else { continue };
        if !(rights.contains('w') && rights.ends_with('s')) {
            continue;
        }
        let bound = |text: &str| u64::from_str_radix(text, 16).unwrap_or(0);
        let size = range.split_once('-').map_or(0, |(start, end)| bound(end).saturating_sub(bound(start)));
        let name = fields.nth(3).unwrap_or_default();
        if name == crate::inline::MAPPED_AS {
            // The probes' own: the monitors are brought back by the session.
            continue;
        }
        // The kernel calls anonymous shared memory a deleted file.
        let anonymous = name.is_empty() || name == "/dev/zero";
        let name = if anonymous { "anonymous memory".to_owned() } else { short(name) };
        *areas.entry(name).or_default() += size;
    }
    for (name, size) in areas {
        told.push(format!(
            "{name} is mapped as shared ({} KiB): what is written there after the checkpoint stays",
            size / 1024
        ));
    }
}
