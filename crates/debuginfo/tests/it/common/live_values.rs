//! Programs stopped at selected locations.

use invigil_debuginfo::image::Image;
use invigil_debuginfo::machine::{Inaccessible, Memory, Registers};
use invigil_debuginfo::program::{Function, Program};
use invigil_debuginfo::unwinding::Frame;
use invigil_debuginfo::value::expression::Expression;
use invigil_debuginfo::value::format::FormatLimits;
use invigil_debuginfo::value::scope::Scope;
use invigil_debuginfo::value::type_index::TypeIndex;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A process under the control of this thread.
pub(crate) struct Live {
    pub(crate) pid: Pid,
    pub(crate) path: PathBuf,
    pub(crate) program: Program,
    pub(crate) catalog: TypeIndex,
    pub(crate) frames: Vec<Frame>,
    memory: Bytes,
}

pub(crate) struct Bytes(File);

impl Memory for Bytes {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
        self.0.read_exact_at(into, at).map_err(|_| Inaccessible(at))
    }
}

impl Live {
    /// Starts a program and stops it before its first instruction.
    pub(crate) fn start(path: &Path) -> Live {
        let mut command = Command::new(path);
        // SAFETY: between fork and exec only one system call is made.
        unsafe { command.pre_exec(|| ptrace::traceme().map_err(Into::into)) };
        #[expect(clippy::zombie_processes, reason = "it is waited for when the test is over")]
        let child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32);
        assert!(matches!(waitpid(pid, None).unwrap(), WaitStatus::Stopped(_, Signal::SIGTRAP)));
        let file = File::options().read(true).write(true).open(format!("/proc/{pid}/mem")).unwrap();
        let mut live = Live {
            pid,
            path: path.canonicalize().unwrap(),
            program: Program::new(),
            catalog: TypeIndex::new(),
            frames: Vec::new(),
            memory: Bytes(file),
        };
        live.look();
        live
    }

    /// Starts a program and runs it to the first instruction of a function.
    pub(crate) fn at_function(path: &Path, function: &str) -> Live {
        let mut live = Live::start(path);
        live.run_to_function(function);
        live
    }

    /// Starts a program and runs it until it executes a trap.
    pub(crate) fn at_trap(path: &Path) -> Live {
        let mut live = Live::start(path);
        live.resume();
        live.look();
        live
    }

    pub(crate) fn function(&self, name: &str) -> Function {
        self.program.functions(name).into_iter().find(|f| f.entry.is_some()).unwrap()
    }

    pub(crate) fn run_to_function(&mut self, function: &str) {
        let entry = self.function(function).entry.unwrap();
        self.run_to(entry);
    }

    pub(crate) fn run_to(&mut self, address: u64) {
        let mut old = [0];
        self.memory.read(address, &mut old).unwrap();
        self.memory.0.write_all_at(&[0xcc], address).unwrap();
        self.resume();
        self.memory.0.write_all_at(&old, address).unwrap();
        let mut registers = ptrace::getregs(self.pid).unwrap();
        assert_eq!(registers.rip - 1, address);
        registers.rip = address;
        ptrace::setregs(self.pid, registers).unwrap();
        self.look();
    }

    /// Runs from the entry of a function to its return.
    pub(crate) fn run_to_return(&mut self) {
        let back = self.memory.word(self.frames[0].registers.sp()).unwrap();
        self.run_to(back);
    }

    pub(crate) fn step(&mut self) {
        ptrace::step(self.pid, None).unwrap();
        waitpid(self.pid, None).unwrap();
        self.look();
    }

    pub(crate) fn write(&self, address: u64, bytes: &[u8]) {
        self.memory.0.write_all_at(bytes, address).unwrap();
    }

    fn resume(&mut self) {
        ptrace::cont(self.pid, None).unwrap();
        let status = waitpid(self.pid, None).unwrap();
        assert!(matches!(status, WaitStatus::Stopped(_, Signal::SIGTRAP)), "{status:?}");
    }

    /// Updates the images and the frames.
    pub(crate) fn look(&mut self) {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.pid)).unwrap();
        let mut files: Vec<(PathBuf, u64)> = Vec::new();
        for line in maps.lines() {
            let parts: Vec<&str> = line.split_whitespace().collect();
            if parts.len() == 6 && parts[2] == "00000000" && parts[5].starts_with('/') {
                let start = u64::from_str_radix(parts[0].split('-').next().unwrap(), 16).unwrap();
                files.push((parts[5].into(), start));
            }
        }
        files.sort_by_key(|(path, _)| *path != self.path);
        let known = self.program.images().len();
        for (path, start) in files.into_iter().skip(known) {
            let image = Image::open(&path).unwrap();
            let bias = if image.is_pie() { start } else { 0 };
            self.program.add(image, bias);
        }
        self.frames = self.program.unwind(&self.registers(), &self.memory, 20);
    }

    pub(crate) fn registers(&self) -> Registers {
        let raw = ptrace::getregs(self.pid).unwrap();
        let mut registers = Registers::default();
        let general = [
            raw.rax, raw.rdx, raw.rcx, raw.rbx, raw.rsi, raw.rdi, raw.rbp, raw.rsp, raw.r8, raw.r9, raw.r10,
            raw.r11, raw.r12, raw.r13, raw.r14, raw.r15, raw.rip,
        ];
        for (number, value) in general.into_iter().enumerate() {
            registers.set(gimli::Register(number as u16), Some(value));
        }
        let floats = ptrace::getregset::<ptrace::regset::NT_PRFPREG>(self.pid).unwrap();
        let mut vectors = [0; 16];
        for (vector, words) in vectors.iter_mut().zip(floats.xmm_space.chunks(4)) {
            *vector = words.iter().rev().fold(0, |all, word| all << 32 | u128::from(*word));
        }
        registers.set_vectors(Some(vectors));
        registers.thread_base = raw.fs_base;
        registers
    }

    pub(crate) fn memory(&self) -> &dyn Memory {
        &self.memory
    }

    pub(crate) fn scope(&self, level: usize) -> Scope<'_> {
        Scope::new(&self.program, &self.catalog, &self.memory, &self.frames, level)
    }

    /// The value of an expression in a frame, as text.
    pub(crate) fn show_at(&self, level: usize, text: &str) -> String {
        let scope = self.scope(level);
        match Expression::parse(text).and_then(|expression| scope.evaluate(&expression)) {
            Ok(datum) => scope.show(&datum, &FormatLimits::default()),
            Err(mistake) => format!("error: {mistake}"),
        }
    }

    /// The value of an expression in the innermost frame, as text.
    pub(crate) fn show(&self, text: &str) -> String {
        self.show_at(0, text)
    }

    /// The type of an expression in the innermost frame.
    pub(crate) fn type_of(&self, text: &str) -> String {
        let scope = self.scope(0);
        let datum = scope.evaluate(&Expression::parse(text).unwrap()).unwrap();
        scope.type_name(&datum.ty)
    }

    /// Checks many values and reports all differences together.
    pub(crate) fn check(&self, expected: &[(&str, &str)]) {
        let wrong: Vec<String> = expected
            .iter()
            .map(|(text, value)| (text, value, self.show(text)))
            .filter(|(_, value, got)| got != *value)
            .map(|(text, value, got)| format!("{text}: {got}, should be {value}"))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = kill(self.pid, Signal::SIGKILL);
        let _ = waitpid(self.pid, None);
    }
}
