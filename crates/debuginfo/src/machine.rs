//! State of a stopped thread as DWARF refers to it: registers by DWARF number, and memory. x86-64 only.

use gimli::Register;

/// The DWARF number of the stack pointer.
pub const RSP: Register = Register(7);
/// The DWARF number of the frame pointer.
pub const RBP: Register = Register(6);
/// The DWARF number of the instruction pointer (the return address column).
pub const RIP: Register = Register(16);
/// The DWARF numbers of the registers in which the first six integer arguments are passed.
pub const ARGUMENTS: [Register; 6] =
    [Register(5), Register(4), Register(1), Register(2), Register(8), Register(9)];
/// The DWARF number of `rax`, in which integers are returned.
pub const RAX: Register = Register(0);
/// The DWARF number of `xmm0`.
pub const XMM0: Register = Register(17);

/// Error: the memory at this address cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inaccessible(pub u64);

/// Memory of a target without the traps that the debugger inserted.
pub trait Memory {
    /// Fills `into` with the bytes at `at`, completely or not at all.
    ///
    /// # Errors
    /// If any of them cannot be read.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible>;

    /// Reads eight bytes as a number.
    ///
    /// # Errors
    /// If any of them cannot be read.
    fn word(&self, at: u64) -> Result<u64, Inaccessible> {
        let mut bytes = [0; 8];
        self.read(at, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// Registers by DWARF number: `rax` 0, `rdx` 1, `rcx` 2, `rbx` 3, `rsi` 4, `rdi` 5, `rbp` 6, `rsp` 7, `r8` to `r15`,
/// `rip` 16, `xmm0` to `xmm15` 17 to 32. In an outer frame, only the registers that the unwinding information restores
/// are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Registers {
    general: [Option<u64>; 17],
    vector: Option<[u128; 16]>,
    /// Base address of thread-local storage (`fs_base`).
    pub thread_base: u64,
}

impl Registers {
    /// A thread none of whose registers are known.
    pub fn unknown(thread_base: u64) -> Registers {
        Registers { thread_base, ..Registers::default() }
    }

    /// The value of a general register, if it is known.
    pub fn get(&self, register: Register) -> Option<u64> {
        self.general.get(usize::from(register.0)).copied().flatten()
    }

    /// Sets a general register; others are ignored.
    pub fn set(&mut self, register: Register, value: Option<u64>) {
        if let Some(place) = self.general.get_mut(usize::from(register.0)) {
            *place = value;
        }
    }

    /// The value of a vector register, if the vector registers were fetched.
    pub fn vector(&self, number: usize) -> Option<u128> {
        self.vector.and_then(|all| all.get(number).copied())
    }

    /// Sets all vector registers; `None` marks them as unknown.
    pub fn set_vectors(&mut self, vectors: Option<[u128; 16]>) {
        self.vector = vectors;
    }

    /// The instruction pointer.
    pub fn pc(&self) -> u64 {
        self.get(RIP).unwrap_or(0)
    }

    /// The stack pointer.
    pub fn sp(&self) -> u64 {
        self.get(RSP).unwrap_or(0)
    }
}
