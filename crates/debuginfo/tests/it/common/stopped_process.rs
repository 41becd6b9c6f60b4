//! A stopped process with real registers and memory.

use invigil_debuginfo::image::Image;
use invigil_debuginfo::machine::{Inaccessible, Memory, Registers};
use invigil_debuginfo::program::Program;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(crate) struct Stopped {
    child: Child,
    memory: File,
    pub(crate) program: Program,
}

impl Stopped {
    /// Starts a program; it is stopped before its first instruction.
    pub(crate) fn start(path: &Path) -> Stopped {
        let mut command = Command::new(path);
        command.stdout(Stdio::null());
        // SAFETY: between fork and exec only one system call is made.
        unsafe { command.pre_exec(|| ptrace::traceme().map_err(Into::into)) };
        let child = command.spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32);
        assert!(matches!(waitpid(pid, None).unwrap(), WaitStatus::Stopped(_, Signal::SIGTRAP)));
        ptrace::setoptions(pid, ptrace::Options::PTRACE_O_EXITKILL).unwrap();
        let memory = File::options().read(true).write(true).open(format!("/proc/{pid}/mem")).unwrap();
        let mut stopped = Stopped { child, memory, program: Program::new() };
        stopped.look_at_maps();
        stopped
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Adds the images that have been mapped since.
    pub(crate) fn look_at_maps(&mut self) {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.pid())).unwrap();
        let known: BTreeSet<_> =
            self.program.images().iter().map(|loaded| loaded.image.path().to_owned()).collect();
        for line in maps.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [range, _, "00000000", _, _, path] = words[..] else { continue };
            let path = Path::new(path);
            if !path.is_absolute() || known.contains(path) {
                continue;
            }
            let Ok(image) = Image::open(path) else { continue };
            let start = u64::from_str_radix(range.split('-').next().unwrap(), 16).unwrap();
            let first = image.segments().iter().map(|segment| segment.address).min().unwrap();
            let bias = start.wrapping_sub(first & !0xfff);
            self.program.add(image, bias);
        }
    }

    /// Runs until a trap, delivering other signals, and updates the images.
    pub(crate) fn run_to_trap(&mut self) {
        self.run_to(Signal::SIGTRAP);
    }

    /// Runs until a signal, delivering other signals.
    pub(crate) fn run_to(&mut self, wanted: Signal) {
        let mut pass = None;
        loop {
            ptrace::cont(self.pid(), pass).unwrap();
            match waitpid(self.pid(), None).unwrap() {
                WaitStatus::Stopped(_, signal) if signal == wanted => break,
                WaitStatus::Stopped(_, signal) => pass = Some(signal),
                other => panic!("{other:?}"),
            }
        }
        self.look_at_maps();
    }

    /// Runs to an address.
    pub(crate) fn run_to_address(&mut self, address: u64) {
        let mut before = [0];
        self.memory.read_exact_at(&mut before, address).unwrap();
        self.memory.write_all_at(&[0xcc], address).unwrap();
        self.run_to_trap();
        self.memory.write_all_at(&before, address).unwrap();
        let mut registers = ptrace::getregs(self.pid()).unwrap();
        assert_eq!(registers.rip, address + 1);
        registers.rip = address;
        ptrace::setregs(self.pid(), registers).unwrap();
    }

    /// Executes one instruction.
    pub(crate) fn step(&mut self) {
        ptrace::step(self.pid(), None).unwrap();
        assert!(matches!(waitpid(self.pid(), None).unwrap(), WaitStatus::Stopped(_, Signal::SIGTRAP)));
    }

    pub(crate) fn registers(&self) -> Registers {
        let from = ptrace::getregs(self.pid()).unwrap();
        let mut registers = Registers::unknown(from.fs_base);
        let values = [
            from.rax, from.rdx, from.rcx, from.rbx, from.rsi, from.rdi, from.rbp, from.rsp, from.r8, from.r9,
            from.r10, from.r11, from.r12, from.r13, from.r14, from.r15, from.rip,
        ];
        for (number, value) in (0..).zip(values) {
            registers.set(gimli::Register(number), Some(value));
        }
        registers
    }

    /// The names of the active functions, from the innermost to `main`.
    pub(crate) fn calls(&self) -> Vec<String> {
        let frames = self.program.unwind(&self.registers(), self, 1000);
        let mut names: Vec<String> = frames
            .iter()
            .map(|frame| {
                frame.function.as_ref().map_or_else(|| "?".to_owned(), |function| function.name.clone())
            })
            .collect();
        if let Some(at) = names.iter().position(|name| name == "main") {
            names.truncate(at + 1);
        }
        names
    }
}

impl Memory for Stopped {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
        self.memory.read_exact_at(into, at).map_err(|_| Inaccessible(at))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
