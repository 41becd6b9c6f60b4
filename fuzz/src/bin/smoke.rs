//! Runs the fuzz targets without libFuzzer: some seconds each, on mutated seeds, the same ones every time.
//!
//! ```text
//! smoke [--seconds N] [TARGET …]     all targets, or these
//! smoke --replay TARGET FILE …       one target on inputs as they are
//! ```
//!
//! An input that makes a target panic, recurse too deeply or run for too long stays in `fuzz/artifacts/`.

use invigil_fuzz::{TARGETS, Target};
use std::fs;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, exit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The longest input.
const LONGEST: usize = 64 << 10;

/// An input may take this long.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut seconds = 5.0;
    let mut replay = false;
    match args.first().map(String::as_str) {
        Some("--seconds") if args.len() > 1 => {
            let Ok(given) = args[1].parse() else { return usage() };
            seconds = given;
            args.drain(..2);
        }
        Some("--replay") if args.len() > 2 => {
            replay = true;
            args.remove(0);
        }
        Some(option) if option.starts_with('-') => return usage(),
        _ => {}
    }
    if !replay {
        quieten();
    }
    let (names, files) = args.split_at(if replay { 1 } else { args.len() });
    if names.iter().any(|name| !TARGETS.iter().any(|target| target.name == name)) {
        return usage();
    }
    let chosen = TARGETS.iter().filter(|target| names.is_empty() || names.iter().any(|n| n == target.name));
    // One target after the other, each on a stack of its size.
    let outcomes: Vec<bool> = chosen
        .map(|target| {
            let files = files.to_vec();
            let work = move || match replay {
                true => files.iter().all(|file| replayed(target, Path::new(file))),
                false => holds(target, Duration::from_secs_f64(seconds)),
            };
            let thread = thread::Builder::new().stack_size(target.stack).spawn(work);
            thread.expect("a thread").join().unwrap_or(false)
        })
        .collect();
    if outcomes.iter().all(|held| *held) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    eprintln!(
        "smoke [--seconds N] [TARGET …]\nsmoke --replay TARGET FILE …\n\nTargets: {}",
        names.join(", ")
    );
    ExitCode::from(2)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn replayed(target: &'static Target, file: &Path) -> bool {
    match fs::read(file) {
        Ok(data) => match catch_unwind(|| (target.run)(&data)) {
            Ok(()) => {
                println!("{}: {}: fine", target.name, file.display());
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

/// Runs a target on its seeds, and then on mutations of them until the time is up.
fn holds(target: &'static Target, time: Duration) -> bool {
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
    let watched = Watched::start(target.name, &current);
    let mut mutator = Mutator::new(target.name, &seeds, &dictionary);
    let start = Instant::now();
    let mut executions = 0;
    while executions < seeds.len() as u64 || start.elapsed() < time {
        let data = match seeds.get(executions as usize) {
            Some(seed) => seed.clone(),
            None => mutator.next(),
        };
        executions += 1;
        // Written down first: from a stack that overflows there is no way back.
        if let Err(error) = fs::write(&current, &data) {
            eprintln!("{}: {error}", current.display());
            return false;
        }
        watched.begin();
        let result = catch_unwind(|| (target.run)(&data));
        watched.end();
        if result.is_err() {
            let kept = artifacts.join(format!("smoke-{executions}"));
            let _ = fs::rename(&current, &kept);
            println!("{:<6} panicked at execution {executions}; to see it again:", target.name);
            println!("       scripts/fuzz --replay {} {}", target.name, kept.display());
            return false;
        }
    }
    let _ = fs::remove_file(&current);
    let taken = start.elapsed().as_secs_f64();
    println!("{:<6} {executions:>7} executions in {taken:.1} s, from {} seeds", target.name, seeds.len());
    true
}

/// Keeps panics short: a replay tells the rest.
fn quieten() {
    let usual = take_hook();
    set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if text.len() > 1000 {
            let start: String = text.chars().take(300).collect();
            println!("panicked at {}: {start}…", panic.location().map_or(String::new(), ToString::to_string));
        } else {
            usual(panic);
        }
    }));
}

// ---- an eye on the clock -----------------------------------------------------------------------------

/// Ends the program when an input takes too long.
struct Watched {
    /// When the present execution began, in milliseconds since the start; zero between executions.
    began: &'static AtomicU64,
    start: Instant,
}

impl Watched {
    fn start(name: &'static str, current: &Path) -> Watched {
        let began: &'static AtomicU64 = Box::leak(Box::default());
        let (start, current) = (Instant::now(), current.to_owned());
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(500));
                let since = began.load(Ordering::Relaxed);
                let now = start.elapsed().as_millis() as u64;
                if since > 0 && now.saturating_sub(since) > PATIENCE.as_millis() as u64 {
                    println!("{name:<6} takes more than {} s for one input:", PATIENCE.as_secs());
                    println!("       scripts/fuzz --replay {name} {}", current.display());
                    exit(1);
                }
            }
        });
        Watched { began, start }
    }

    fn begin(&self) {
        self.began.store(self.start.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.began.store(0, Ordering::Relaxed);
    }
}

// ---- seeds and words ---------------------------------------------------------------------------------

/// The seeds of a target, in an order that is the same everywhere.
fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let mut files = files(&root().join("seeds").join(target.name), "");
    for (folder, ending) in target.more_seeds {
        files.extend(self::files(&root().join("..").join(folder), ending));
    }
    files.iter().filter_map(|file| fs::read(file).ok()).collect()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.is_file())
        .filter(|path| ending.is_empty() || path.extension().is_some_and(|found| found == ending))
        .collect();
    files.sort();
    files
}

/// The words of a dictionary in libFuzzer's form: one to a line, in quotes, with `\\`, `\"` and `\xAB`.
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

/// Makes inputs out of seeds, by chance, but the same ones every time.
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

    /// A stretch of `data`: mostly short.
    fn stretch(&mut self, data: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(data.len() + 1);
        let longest = if self.below(4) == 0 { data.len() } else { 24 };
        start..(start + self.below(longest)).min(data.len())
    }

    fn next(&mut self) -> Vec<u8> {
        let mut data = self.seed().to_vec();
        let few = 1 + self.below(3);
        for _ in 0..if self.below(8) == 0 { few * 6 } else { few } {
            self.mutate(&mut data);
        }
        data.truncate(LONGEST);
        data
    }

    fn mutate(&mut self, data: &mut Vec<u8>) {
        let range = self.stretch(data);
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
                let from = self.stretch(other);
                data.splice(range, other[from].iter().copied());
            }
            6 => {
                let other = self.seed();
                let from = self.below(other.len() + 1);
                data.truncate(range.start);
                data.extend_from_slice(&other[from..]);
            }
            // Deep nesting and long lines, now and then.
            7 if self.below(16) == 0 => {
                let times = 1 << self.below(13);
                let many = self.word().repeat(times);
                data.splice(range.start..range.start, many);
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

    /// A number near a limit.
    fn number(&mut self) -> String {
        let near = [0, 1, 16, 127, 255, 1 << 14, 1 << 16, 1 << 31, 1 << 32, 1 << 53, 1 << 63, u64::MAX];
        let number = i128::from(near[self.below(near.len())]) + self.below(3) as i128 - 1;
        if self.below(3) == 0 { (-number).to_string() } else { number.to_string() }
    }
}
