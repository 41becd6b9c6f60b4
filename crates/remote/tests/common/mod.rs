//! What the tests share.
#![allow(dead_code, unreachable_pub, reason = "each test uses some of it")]

use invigil_explore::{FAULT, Space, Successors, Taken, Totals};
use invigil_remote::Address;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The example language with one of its programs; none, and a word about it, where there is no Python.
pub fn soup(program: &str) -> Option<Address> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3");
        return None;
    }
    let folder = root().join("examples/soup");
    let words = ["python3".into(), folder.join("language.py").into(), folder.join(program).into_os_string()];
    Some(Address::command::<std::ffi::OsString>(words))
}

/// A remote semantics in the shell.
pub fn shell(script: &str) -> Address {
    Address::command(["sh", "-c", script])
}

/// A folder of its own, gone with the value.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("invigil-remote-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All of a space, in breadth, and the first path to a deadlock: the plainest search there is.
pub fn explore(space: &impl Space, at_once: usize) -> (Totals, HashSet<u64>, Option<Vec<u32>>) {
    let mut totals = Totals::default();
    let mut out = Successors::default();
    let mut ends = Vec::new();
    space.initial(&mut out);
    let mut from: HashMap<u64, Option<(u64, u32)>> = out.words.iter().map(|start| (*start, None)).collect();
    let mut queue: Vec<u64> = out.words.clone();
    let mut deadlock = None;
    let mut next = 0;
    while next < queue.len() {
        let some = queue[next..queue.len().min(next + at_once)].to_vec();
        next += some.len();
        out.clear();
        ends.clear();
        space.bulk(&some, &mut out, &mut ends);
        let mut begin = 0;
        for (source, end) in some.iter().zip(&ends) {
            let end = *end as usize;
            for at in begin..end {
                totals.transitions += 1;
                let Taken { action, flags } = out.taken[at];
                if flags & FAULT != 0 {
                    totals.faults += 1;
                    continue;
                }
                from.entry(out.words[at]).or_insert_with(|| {
                    queue.push(out.words[at]);
                    Some((*source, action))
                });
            }
            if begin == end {
                totals.deadlocks += 1;
                deadlock.get_or_insert(*source);
            }
            begin = end;
        }
    }
    totals.states = from.len() as u64;
    let path = |mut at: u64| {
        let mut actions = Vec::new();
        while let Some((source, action)) = from[&at] {
            actions.push(action);
            at = source;
        }
        actions.reverse();
        actions
    };
    (totals, from.keys().copied().collect(), deadlock.map(path))
}
