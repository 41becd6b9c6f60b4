//! Runs the fuzz targets without libFuzzer, for some seconds each, on mutated seeds. The mutations are deterministic.
//!
//! ```text
//! smoke [--seconds N] [TARGET …]     runs all targets, or these
//! smoke --replay TARGET FILE …       runs one target on these inputs
//! smoke --list                       prints the targets with their dictionaries
//! ```
//!
//! An input that makes a target panic, overflow its stack or exceed the time limit is kept in `fuzz/artifacts/`.

use invigil_fuzz::{TARGETS, Target};
use std::fs;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, exit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum length of an input.
const MAX_INPUT: usize = 64 << 10;

/// Time limit for one input.
const TIME_LIMIT: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut seconds = 5.0;
    let mut replay = false;
    match args.first().map(String::as_str) {
        Some("--seconds") if args.len() > 1 => {
            let Ok(value) = args[1].parse() else { return usage() };
            seconds = value;
            args.drain(..2);
        }
        Some("--replay") if args.len() > 2 => {
            replay = true;
            args.remove(0);
        }
        Some("--list") => {
            TARGETS.iter().for_each(|target| println!("{} {}", target.name, target.dictionary));
            return ExitCode::SUCCESS;
        }
        Some(option) if option.starts_with('-') => return usage(),
        _ => {}
    }
    if !replay {
        silence_panics();
    }
    let (names, files) = args.split_at(if replay { 1 } else { args.len() });
    if names.iter().any(|name| !TARGETS.iter().any(|target| target.name == name)) {
        return usage();
    }
    let targets = TARGETS.iter().filter(|target| names.is_empty() || names.iter().any(|n| n == target.name));
    // One target after the other, each on a thread with its stack size.
    let results: Vec<bool> = targets
        .map(|target| {
            let files = files.to_vec();
            let work = move || match replay {
                true => files.iter().all(|file| replay_file(target, Path::new(file))),
                false => run_target(target, Duration::from_secs_f64(seconds)),
            };
            let thread = thread::Builder::new().stack_size(target.stack).spawn(work);
            thread.expect("a thread").join().unwrap_or(false)
        })
        .collect();
    if results.iter().all(|passed| *passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    eprintln!(
        "smoke [--seconds N] [TARGET …]\nsmoke --replay TARGET FILE …\nsmoke --list\n\nTargets: {}",
        names.join(", ")
    );
    ExitCode::from(2)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn replay_file(target: &'static Target, file: &Path) -> bool {
    match fs::read(file) {
        Ok(data) => match catch_unwind(|| (target.run)(&data)) {
            Ok(()) => {
                println!("{}: {}: passed", target.name, file.display());
                true
            }
            Err(_) => {
                println!("{}: {}: panicked", target.name, file.display());
                false
            }
        },
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            false
        }
    }
}

/// Runs a target on its seeds, then on mutations of them until `time` has passed. Returns whether it passed.
fn run_target(target: &'static Target, time: Duration) -> bool {
    let seeds = seeds(target);
    let dictionary = dictionary(target);
    if seeds.is_empty() || dictionary.is_empty() {
        println!("{:<6} has no seeds or no dictionary", target.name);
        return false;
    }
    let artifacts = root().join("artifacts").join(target.name);
    let current = artifacts.join("smoke-current");
    if let Err(error) = fs::create_dir_all(&artifacts) {
        eprintln!("{}: {error}", artifacts.display());
        return false;
    }
    let watchdog = Watchdog::start(target.name, &current);
    let mut mutator = Mutator::new(target.name, &seeds, &dictionary);
    let start = Instant::now();
    let mut executions = 0;
    while executions < seeds.len() as u64 || start.elapsed() < time {
        let data = match seeds.get(executions as usize) {
            Some(seed) => seed.clone(),
            None => mutator.next(),
        };
        executions += 1;
        // Saved before the run, because a stack overflow ends the process.
        if let Err(error) = fs::write(&current, &data) {
            eprintln!("{}: {error}", current.display());
            return false;
        }
        watchdog.begin();
        let result = catch_unwind(|| (target.run)(&data));
        watchdog.end();
        if result.is_err() {
            let artifact = artifacts.join(format!("smoke-{executions}"));
            let _ = fs::rename(&current, &artifact);
            println!("{:<6} panicked at execution {executions}; to reproduce it:", target.name);
            println!("       scripts/fuzz --replay {} {}", target.name, artifact.display());
            return false;
        }
    }
    let _ = fs::remove_file(&current);
    let seconds = start.elapsed().as_secs_f64();
    println!("{:<6} {executions:>7} executions in {seconds:.1} s, from {} seeds", target.name, seeds.len());
    true
}

/// Shortens long panic messages. A replay prints them in full.
fn silence_panics() {
    let default_hook = take_hook();
    set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if text.len() > 1000 {
            let start: String = text.chars().take(300).collect();
            println!("panicked at {}: {start}…", panic.location().map_or(String::new(), ToString::to_string));
        } else {
            default_hook(panic);
        }
    }));
}

// ---- time limit --------------------------------------------------------------------------------------

/// Ends the process if an input exceeds the time limit.
struct Watchdog {
    /// Start of the current execution, in milliseconds since `start`; zero between executions.
    execution_start: &'static AtomicU64,
    start: Instant,
}

impl Watchdog {
    fn start(name: &'static str, current: &Path) -> Watchdog {
        let execution_start: &'static AtomicU64 = Box::leak(Box::default());
        let (start, current) = (Instant::now(), current.to_owned());
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(500));
                let since = execution_start.load(Ordering::Relaxed);
                let now = start.elapsed().as_millis() as u64;
                if since > 0 && now.saturating_sub(since) > TIME_LIMIT.as_millis() as u64 {
                    println!("{name:<6} takes more than {} s for one input:", TIME_LIMIT.as_secs());
                    println!("       scripts/fuzz --replay {name} {}", current.display());
                    exit(1);
                }
            }
        });
        Watchdog { execution_start, start }
    }

    fn begin(&self) {
        self.execution_start.store(self.start.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.execution_start.store(0, Ordering::Relaxed);
    }
}

// ---- seeds and dictionaries --------------------------------------------------------------------------

/// The seeds of a target, in a fixed order.
fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let mut files = files(&root().join("seeds").join(target.name), "");
    for (folder, extension) in target.more_seeds {
        files.extend(self::files(&root().join("..").join(folder), extension));
    }
    files.iter().filter_map(|file| fs::read(file).ok()).collect()
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.is_file())
        .filter(|path| extension.is_empty() || path.extension().is_some_and(|actual| actual == extension))
        .collect();
    files.sort();
    files
}

/// The words of a dictionary in libFuzzer's format: one per line, in quotes, with escapes `\\`, `\"` and `\xAB`.
fn dictionary(target: &Target) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(root().join("dictionaries").join(target.dictionary)).unwrap_or_default();
    let quoted = |line: &str| Some(unescaped(line.trim().strip_prefix('"')?.strip_suffix('"')?));
    text.lines().filter_map(quoted).collect()
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix('x').and_then(|code| u8::from_str_radix(code.get(..2)?, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.extend(rest.bytes().take(1));
                rest = rest.get(1..).unwrap_or("");
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

// ---- mutations ---------------------------------------------------------------------------------------

/// Deterministic pseudo-random mutations of seeds.
struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    dictionary: &'a [Vec<u8>],
    random: u64,
}

impl<'a> Mutator<'a> {
    fn new(name: &str, seeds: &'a [Vec<u8>], dictionary: &'a [Vec<u8>]) -> Mutator<'a> {
        let start = name.bytes().fold(0x9e37_79b9_7f4a_7c15, |sum: u64, b| sum.rotate_left(9) ^ u64::from(b));
        Mutator { seeds, dictionary, random: start }
    }

    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % limit.max(1)
    }

    fn seed(&mut self) -> &'a [u8] {
        let at = self.below(self.seeds.len());
        &self.seeds[at]
    }

    fn word(&mut self) -> &'a [u8] {
        let at = self.below(self.dictionary.len());
        &self.dictionary[at]
    }

    /// A random range of `data`, mostly short.
    fn range(&mut self, data: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(data.len() + 1);
        let max_len = if self.below(4) == 0 { data.len() } else { 24 };
        start..(start + self.below(max_len)).min(data.len())
    }

    fn next(&mut self) -> Vec<u8> {
        let mut data = self.seed().to_vec();
        let count = 1 + self.below(3);
        for _ in 0..if self.below(8) == 0 { count * 6 } else { count } {
            self.mutate(&mut data);
        }
        data.truncate(MAX_INPUT);
        data
    }

    fn mutate(&mut self, data: &mut Vec<u8>) {
        let range = self.range(data);
        match self.below(12) {
            0 if !data.is_empty() => {
                let at = self.below(data.len());
                data[at] ^= 1 << self.below(8);
            }
            1 if !data.is_empty() => {
                let at = self.below(data.len());
                data[at] = self.below(256) as u8;
            }
            2 => drop(data.drain(range)),
            3 => data.truncate(range.start),
            4 => {
                let copy = data[range.clone()].to_vec();
                let to = self.below(data.len() + 1);
                data.splice(to..to, copy);
            }
            5 => {
                let other = self.seed();
                let from = self.range(other);
                data.splice(range, other[from].iter().copied());
            }
            6 => {
                let other = self.seed();
                let from = self.below(other.len() + 1);
                data.truncate(range.start);
                data.extend_from_slice(&other[from..]);
            }
            // Occasionally, deep nesting and long lines.
            7 if self.below(16) == 0 => {
                let count = 1 << self.below(13);
                let repeated = self.word().repeat(count);
                data.splice(range.start..range.start, repeated);
            }
            8 => {
                let number = self.number();
                data.splice(range, number.into_bytes());
            }
            9 => {
                let word = self.word().to_vec();
                data.splice(range, word);
            }
            _ => {
                let word = self.word().to_vec();
                data.splice(range.start..range.start, word);
            }
        }
    }

    /// A number near the limit of some type.
    fn number(&mut self) -> String {
        let near = [0, 1, 16, 127, 255, 1 << 14, 1 << 16, 1 << 31, 1 << 32, 1 << 53, 1 << 63, u64::MAX];
        let number = i128::from(near[self.below(near.len())]) + self.below(3) as i128 - 1;
        if self.below(3) == 0 { (-number).to_string() } else { number.to_string() }
    }
}
