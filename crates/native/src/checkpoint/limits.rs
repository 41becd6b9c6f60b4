//! What a checkpoint cannot restore.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nix::unistd::Pid;

use super::process::ProcessTraits;

/// State that a copy does not have, read from the live process at the checkpoint.
pub(super) struct Unrestorable {
    timers: usize,
    children: Vec<String>,
    locks: usize,
    /// Size of the address space in bytes.
    size: u64,
    terminal: bool,
}

impl Unrestorable {
    /// Reads the live process. A few small reads: this is part of every checkpoint.
    pub(super) fn of(process: Pid, threads: &[Pid], traits: &ProcessTraits, has_files: bool) -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
        let children = threads.iter().flat_map(|tid| {
            let list = read(&format!("task/{tid}/children"));
            list.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()
        });
        Self {
            timers: read("timers").lines().filter(|line| line.starts_with("ID:")).count(),
            children: children.collect(),
            locks: if has_files { locks(process) } else { 0 },
            size: traits.size,
            terminal: traits.leads_session && traits.has_terminal,
        }
    }

    fn describe(&self, copy: Pid, limitations: &mut Vec<String>) {
        if self.timers > 0 {
            let timers = plural(self.timers, "timer", "timers");
            limitations.push(format!("{timers} of the program (timer_create): not restored"));
        }
        if !self.children.is_empty() {
            let ids = self.children.join(", ");
            let children = plural(self.children.len(), "child process", "child processes");
            limitations.push(format!(
                "{children} ({ids}): not part of the checkpoint, and no longer children of the \
                 program after a restore"
            ));
        }
        if self.locks > 0 {
            let locks = plural(self.locks, "lock on a file", "locks on files");
            limitations.push(format!("{locks} (fcntl): not held after a restore"));
        }
        let missing = size(copy).map_or(0, |size| self.size.saturating_sub(size) / 1024);
        if missing > 0 {
            limitations.push(format!(
                "{missing} KiB of memory that the program excludes from copies (MADV_DONTFORK): \
                 missing after a restore"
            ));
        }
        if self.terminal {
            limitations.push(
                "the program leads the session of its terminal: it has no terminal after a restore".into(),
            );
        }
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Number of file locks that the process holds. Those of an open file live on in the copy.
fn locks(process: Pid) -> usize {
    let all = fs::read_to_string("/proc/locks").unwrap_or_default();
    let own = process.to_string();
    all.lines()
        .filter(|line| line.contains("POSIX") && line.split_ascii_whitespace().nth(4) == Some(&own))
        .count()
}

/// Size of the address space in bytes.
fn size(process: Pid) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    Some(text.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 4096)
}

/// Lists everything that will not be restored. Descriptors and memory are looked up in the copy.
pub(super) fn of(copy: Pid, unrestorable: &Unrestorable) -> Vec<String> {
    let mut limitations = Vec::new();
    descriptors(copy, &mut limitations);
    shared_memory(copy, &mut limitations);
    unrestorable.describe(copy, &mut limitations);
    limitations
}

fn descriptors(copy: Pid, limitations: &mut Vec<String>) {
    let mut by_limitation: BTreeMap<&'static str, Vec<i32>> = BTreeMap::new();
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
        if let Some(limitation) = limitation_of(&target) {
            by_limitation.entry(limitation).or_default().push(number);
        } else if fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) && is_written(copy, number) {
            written.entry(short(&target)).or_default().push(number);
        }
    }
    for (name, numbers) in written {
        limitations.push(format!(
            "{name} is open for writing ({}): writes after the checkpoint are not undone",
            descriptor_list(&numbers)
        ));
    }
    for (limitation, numbers) in by_limitation {
        limitations.push(format!("{} {limitation}", descriptor_list(&numbers)));
    }
}

/// The limitation of a descriptor that is not a file, by the kernel's name for it.
fn limitation_of(target: &str) -> Option<&'static str> {
    let of_pipe = "(pipe): reads and writes after the checkpoint are not undone, and the other end \
                   sees no end of file while the checkpoint exists";
    let of_socket = "(socket): data sent or received after the checkpoint is not undone, and the other \
                     end sees no end of file while the checkpoint exists";
    Some(match target {
        _ if target.starts_with("pipe:") => of_pipe,
        _ if target.starts_with("socket:") => of_socket,
        _ if target.starts_with("/dev/tty") || target.starts_with("/dev/pts/") => {
            "(terminal): input and output after the checkpoint are not undone"
        }
        "anon_inode:[eventfd]" => "(eventfd): its counter is not restored",
        "anon_inode:[timerfd]" => "(timerfd): it keeps running and is not restored",
        "anon_inode:[eventpoll]" => "(epoll): its interest list is not restored",
        "anon_inode:[io_uring]" => "(io_uring): its rings are shared with the checkpoint and not restored",
        "anon_inode:inotify" => "(inotify): events read after the checkpoint are not repeated",
        _ => return None,
    })
}

fn descriptor_list(numbers: &[i32]) -> String {
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

fn shared_memory(copy: Pid, limitations: &mut Vec<String>) {
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
        if name == crate::probes::MAPPED_AS {
            // The probe library's memory: the session restores the monitors.
            continue;
        }
        // The kernel shows anonymous shared memory as a deleted file.
        let anonymous = name.is_empty() || name == "/dev/zero";
        let name = if anonymous { "anonymous memory".to_owned() } else { short(name) };
        *areas.entry(name).or_default() += size;
    }
    for (name, size) in areas {
        limitations.push(format!(
            "{name} is mapped as shared ({} KiB): writes after the checkpoint are not undone",
            size / 1024
        ));
    }
}
