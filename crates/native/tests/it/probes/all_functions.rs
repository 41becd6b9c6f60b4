//! Probes at every function of real programs and all their libraries: the programs behave as they do unmonitored.

use super::common::cpp;
use invigil_expr::diag::{SourceId, Span};
use invigil_monitor::automaton::{Automaton, AutomatonDef, BranchEffect, EndVerdict, State, Transition};
use invigil_monitor::event::{EventCatalog, EventKind};
use invigil_monitor::verdict::Verdict;
use invigil_native::{Launch, NativeTarget, ProbeMode, Stream};
use invigil_session::{RunOutcome, Session, SessionOptions};
use invigil_target::ResumeMode;
use invigil_test_support::Folder;
use invigil_test_support::tools::is_installed;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// A property with one state and a self-loop for each of some addresses.
fn counts(addresses: &[u64], catalog: &mut EventCatalog) -> Automaton {
    let span = Span { source: SourceId(0), start: 0, end: 0 };
    let stay = BranchEffect { target: Some(0), ..BranchEffect::default() };
    let transitions = addresses.iter().map(|address| Transition {
        from: 0,
        event: catalog.declare(&format!("*{address:#x}"), EventKind::Before),
        guard: None,
        success: Some(stay.clone()),
        failure: None,
        reads: Vec::new(),
        condition: None,
        span,
    });
    Automaton::new(AutomatonDef {
        name: "every".to_owned(),
        transitions: transitions.collect(),
        states: vec![State {
            name: "all".to_owned(),
            verdict: Verdict::Accepting,
            is_final: false,
            action: None,
            at_end: EndVerdict::Nothing,
            span,
        }],
        ..AutomatonDef::default()
    })
}

/// Output and exit status of a program.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    stdout: String,
    stderr: String,
    ending: String,
}

/// A program with its arguments, run in a directory.
struct Work<'a> {
    program: &'a str,
    args: &'a [&'a str],
    dir: &'a Path,
}

/// Result of monitoring all functions.
struct Watched {
    seen: Seen,
    calls: u64,
    /// Mechanisms of the functions.
    mechanisms: Vec<String>,
    /// The same for some functions of the library.
    named: HashMap<&'static str, String>,
}

impl Work<'_> {
    fn unwatched(&self) -> Seen {
        let done = Command::new(self.program).args(self.args).current_dir(self.dir).output().unwrap();
        Seen {
            stdout: String::from_utf8_lossy(&done.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
            ending: format!("it exited with status {}", done.status.code().unwrap()),
        }
    }

    fn watched(&self, probes: ProbeMode) -> Watched {
        let written = Folder::new();
        let file = |name: &str| written.path().join(name);
        let stream = |name: &str| Stream::File(File::create(file(name)).unwrap().into());
        let mut launch = Launch::new(self.program).args(self.args.iter().copied()).dir(self.dir);
        (launch.stdin, launch.stdout, launch.stderr) = (Stream::Null, stream("out"), stream("err"));
        launch.probes = probes;
        let target = NativeTarget::launch(&launch).unwrap();
        let addresses = target.function_starts();
        let named = named(&target);
        let mut catalog = EventCatalog::default();
        let automaton = Arc::new(counts(&addresses, &mut catalog));
        let mut session =
            Session::new(Box::new(target), vec![automaton], catalog, Vec::new(), SessionOptions::default());
        // A function that starts with an instruction that cannot be moved is reported and skipped.
        session.start().unwrap();
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        let RunOutcome::Ended(ending) = outcome else {
            panic!("{}: {outcome:?} {:#?}", self.program, session.target().frames(20));
        };
        assert!(!session.monitors_lost());
        let by_event: HashMap<String, String> =
            session.target().probes().into_iter().map(|probe| (probe.event, probe.mechanism)).collect();
        let how_named = named.into_iter().map(|(name, event)| (name, by_event[&event].clone()));
        let read = |name| String::from_utf8_lossy(&std::fs::read(file(name)).unwrap()).into_owned();
        Watched {
            seen: Seen { stdout: read("out"), stderr: read("err"), ending: ending.to_string() },
            calls: session.report().properties[0].steps,
            named: how_named.collect(),
            mechanisms: by_event.into_values().collect(),
        }
    }

    /// Runs it unmonitored and monitored, with equal results. Returns the number of calls.
    fn is_the_same_watched(&self) -> u64 {
        let unwatched = self.unwatched();
        let files = files(self.dir);
        let watched = self.watched(ProbeMode::Inline);
        assert_eq!(watched.seen, unwatched, "{}", self.program);
        assert_eq!(self::files(self.dir), files, "{}: the same files", self.program);
        for name in NAMES {
            let how = watched.named.get(name).map(String::as_str);
            assert_eq!(how, Some("probe"), "{}: {name}", self.program);
        }
        // A few sites in a thousand have no room, or may be entered in the middle.
        let (all, probes) =
            (watched.mechanisms.len(), watched.mechanisms.iter().filter(|how| *how == "probe").count());
        assert!(all > 4000 && probes * 1000 > all * 990, "{}: {probes} of {all}", self.program);
        assert!(watched.mechanisms.iter().all(|how| how == "probe" || how.starts_with("trap: ")));
        watched.calls
    }
}

/// Functions of the library that must have probes.
const NAMES: [&str; 6] = ["malloc", "free", "memcpy", "pthread_mutex_lock", "read", "write"];

/// Their addresses, as events. `memcpy` has several variants: the one that is selected here is selected there, too.
fn named(target: &NativeTarget) -> Vec<(&'static str, String)> {
    let [malloc, memcpy] = [libc::malloc as *const (), libc::memcpy as *const ()].map(|at| at as u64);
    let there = |name| match name {
        "memcpy" => Some(target.address_of("malloc")? - malloc + memcpy),
        name => target.address_of(name),
    };
    NAMES.iter().filter_map(|name| Some((*name, format!("*{:#x}", there(name)?)))).collect()
}

/// Contents of a directory.
fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let all = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = all.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    all.sort();
    all
}

#[test]
fn probes_at_all_functions_of_shell_change_nothing() {
    let dir = Folder::new();
    let script = r#"
        fib() { if [ $1 -lt 2 ]; then echo $1; else echo $(( $(fib $(($1 - 1))) + $(fib $(($1 - 2))) )); fi; }
        fib 4
        for i in $(seq 1 200); do x=$((x + i * i)); s="$s${i: -1}"; done
        echo $x ${#s} "${s//1/one}"
        printf '%s\n' b c a | sort | while read line; do echo "<$line>"; done
        declare -A all; for w in one two three; do all[$w]=${#w}; done; echo "${!all[@]}" "${all[@]}" | wc -c
        case $x in *7*) echo seven;; *) echo none;; esac
        trap 'echo trapped' USR1; kill -USR1 $$
        (exit 3); echo $?
        cat <<< "here $(( 1 << 20 ))" | tr a-z A-Z
        exit 7"#;
    let work = Work { program: "bash", args: &["-c", script], dir: dir.path() };
    assert!(work.is_the_same_watched() > 10_000);
}

#[test]
fn probes_at_all_functions_of_database_change_nothing() {
    if !is_installed("sqlite3") {
        return;
    }
    let dir = Folder::new();
    let script = "
        drop table if exists t;
        create table t(id integer primary key, name text, value real);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
            insert into t select i, printf('name %d', i * 7919 % 3000), i * 1.5 from n;
        create index by_name on t(name);
        select count(*), sum(value), min(name), max(name) from t where name like '%9%';
        select a.id, b.name from t a join t b on a.id = b.id + 1 order by b.name desc limit 5;
        begin; update t set value = value * 2 where id % 3 = 0; delete from t where id % 7 = 0; commit;
        select group_concat(id), upper(substr(name, 1, 3)) from (select * from t order by value limit 9);
        pragma integrity_check;";
    let work = Work { program: "sqlite3", args: &[":memory:", script], dir: dir.path() };
    assert!(work.is_the_same_watched() > 1_000_000);
}

/// A program to compile.
const SOURCE: &str = "
    int printf(const char *, ...);
    struct list { struct list *next; int value; };
    static int sum(struct list *l) { int s = 0; for (; l; l = l->next) s += l->value; return s; }
    int main(int argc, char **argv) {
        struct list all[100] = {{0}};
        for (int i = 1; i < 100; i++) { all[i].next = &all[i - 1]; all[i].value = i * argc % 7; }
        switch (argc) {
            case 1: printf(\"%d\", sum(all)); break;
            case 2: case 3: printf(\"%s\", argv[1]); break;
            case 4: return sum(all + 9);
            default: return argc * 3;
        }
        return sum(all + 99);
    }";

#[test]
fn probes_at_all_functions_of_compiler_change_nothing() {
    if !is_installed("tcc") {
        return;
    }
    let dir = Folder::new();
    std::fs::write(dir.join("work.c"), SOURCE).unwrap();
    let work = Work { program: "tcc", args: &["-c", "work.c", "-o", "work.o"], dir: dir.path() };
    let calls = work.is_the_same_watched();
    assert!(calls > 10_000);
    // Traps give the same result.
    assert_eq!(work.watched(ProbeMode::Trap).calls, calls);
}

/// Sixty thousand functions, and no room for trampolines below the program.
#[test]
fn probes_at_all_functions_of_large_compiler_change_nothing() {
    let dir = Folder::new();
    std::fs::write(dir.join("work.c"), SOURCE).unwrap();
    let path = Command::new("gcc").arg("-print-prog-name=cc1").output().unwrap();
    let path = String::from_utf8(path.stdout).unwrap();
    let args = ["-quiet", "-O2", "work.c", "-o", "work.s"];
    let work = Work { program: path.trim(), args: &args, dir: dir.path() };
    assert!(work.is_the_same_watched() > 1_000_000);
}

/// Exceptions through frames with probes; the unwinder has probes as well.
#[test]
fn probes_at_all_functions_of_cpp_program_change_nothing() {
    let source = r#"
        #include <iostream>
        #include <map>
        #include <stdexcept>
        #include <string>
        #include <vector>
        struct Guard { int &count; ~Guard() { count++; } };
        static int guards;
        __attribute__((noinline)) int deep(int n) {
            Guard guard{guards};
            if (n == 0) throw std::runtime_error("deep");
            return deep(n - 1) + 1;
        }
        int main() {
            std::map<std::string, std::vector<int>> all;
            int caught = 0;
            for (int i = 0; i < 300; i++) {
                all[std::to_string(i % 17)].push_back(i);
                try { deep(i % 13); } catch (const std::exception &e) { caught += e.what()[0]; }
                try { all.at("nobody"); } catch (const std::out_of_range &) { caught++; }
                try { try { throw i; } catch (int) { throw; } } catch (...) { caught++; }
            }
            for (auto &[name, values] : all) std::cout << name << ' ' << values.size() << '\n';
            std::cout << caught << ' ' << guards << std::endl;
            return caught % 100;
        }"#;
    let built = cpp(source, &["-O2", "-std=c++17"]);
    let dir = Folder::new();
    let work = Work { program: built.path.to_str().unwrap(), args: &[], dir: dir.path() };
    assert!(work.is_the_same_watched() > 10_000);
}

#[test]
fn probes_at_all_functions_of_rust_program_change_nothing() {
    if !is_installed("rg") {
        return;
    }
    let dir = Folder::new();
    for n in 0..40 {
        let text: String = (0..200).map(|i| format!("line {i} of {n}: {}\n", i * n % 97)).collect();
        std::fs::write(dir.join(format!("file{n}.txt")), text).unwrap();
    }
    let args = ["--sort", "path", "-n", "(1|2)7|: 9[0-4]$|of 3[^ ]: (4|5)."];
    let work = Work { program: "rg", args: &args, dir: dir.path() };
    assert!(work.is_the_same_watched() > 10_000);
    // In several threads, and in whatever order.
    let work = Work { program: "rg", args: &["-j4", "-c", ": 9[0-4]$"], dir: dir.path() };
    let lines = |seen: Seen| -> BTreeSet<String> { seen.stdout.lines().map(str::to_owned).collect() };
    assert_eq!(lines(work.watched(ProbeMode::Inline).seen), lines(work.unwatched()));
}
