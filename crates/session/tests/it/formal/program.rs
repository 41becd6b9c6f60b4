//! The program [Jakse 2019, definitions 3.2.1.1 to 3.2.1.8 and figure 3.3]: a small machine whose code is in the same
//! memory as its data, so that a breakpoint can replace an instruction.

use invigil_semantics::{Language, Semantics};

/// An index into the memory.
pub(crate) type Addr = u8;

/// An instruction. Operands are addresses of data cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Instr {
    /// The breakpoint instruction, which only a debugger writes.
    Break,
    /// The end of the program.
    Stop,
    /// `[to] := value`
    Const { to: Addr, value: u8 },
    /// `[to] := [from]`
    Move { from: Addr, to: Addr },
    /// `[to] := [left] + [right]`: two reads, then a write.
    Add { left: Addr, right: Addr, to: Addr },
    /// `[to] := [[pointer]]`
    Load { pointer: Addr, to: Addr },
    /// `[[pointer]] := [from]`
    Store { from: Addr, pointer: Addr },
    /// Go there.
    Jump(Addr),
    /// Go there if the cell is odd.
    JumpIf { odd: Addr, to: Addr },
    /// `[link] := pc + 1`, and go there.
    Call { link: Addr, to: Addr },
    /// Go to `[link]`.
    Return { link: Addr },
}

/// A machine word: data or an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Val {
    Num(u8),
    Code(Instr),
}

/// The breakpoint instruction as a word.
pub(crate) const BREAK: Val = Val::Code(Instr::Break);
/// The end of the program as a word.
pub(crate) const STOP: Val = Val::Code(Instr::Stop);

/// A memory.
pub(crate) type Mem = Vec<Val>;

/// Definition 3.2.1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) addr: Addr,
    pub(crate) write: bool,
}

/// A symbol: functions and variables are numbered in one row.
pub(crate) type Sym = usize;

/// Definition 3.2.1.4, without frames, which this machine does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Param {
    /// `v`
    Symbol(Sym),
    /// `*v`
    Pointed(Sym),
}

/// Definition 3.2.1.7: a configuration of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramState {
    pub(crate) m: Mem,
    pub(crate) pc: Addr,
}

/// Definition 3.2.1.6: a program. Its code comes first in memory, then its data.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The code; the last instruction is [`Instr::Stop`].
    pub(crate) code: Vec<Instr>,
    /// The data at the beginning.
    pub(crate) data: Vec<u8>,
    /// Where it starts.
    pub(crate) start: Addr,
    /// The address of each symbol: `symT` for names that need no stack to be resolved.
    pub(crate) symbols: Vec<Addr>,
}

impl Program {
    /// Whether a breakpoint can be set here. One on data is what a debugger should forbid (remark 3.3.3.1).
    pub(crate) fn is_code(&self, addr: Addr) -> bool {
        usize::from(addr) < self.code.len()
    }

    /// `symT`: the address of what a parameter names.
    pub(crate) fn sym_t(&self, m: &Mem, param: Param) -> Addr {
        match param {
            Param::Symbol(symbol) => self.symbols[symbol],
            Param::Pointed(symbol) => match m[usize::from(self.symbols[symbol])] {
                Val::Num(number) => self.pointed(number),
                Val::Code(_) => self.symbols[symbol],
            },
        }
    }

    /// Pointers stay in the data: the program neither reads nor writes its code.
    fn pointed(&self, number: u8) -> Addr {
        self.code.len() as Addr + number % self.data.len() as u8
    }

    /// Jumps stay in the code.
    fn target(&self, number: u8) -> Addr {
        number % self.code.len() as u8
    }

    fn number(m: &Mem, addr: Addr) -> u8 {
        match m[usize::from(addr)] {
            Val::Num(number) => number,
            Val::Code(_) => panic!("the machine reads data only"),
        }
    }

    /// `runInstr`; none at `BREAK`, at `STOP`, and where there is no instruction.
    pub(crate) fn run_instr(&self, ProgramState { m, pc }: &ProgramState) -> Option<ProgramState> {
        let Val::Code(instr) = m[usize::from(*pc)] else { return None };
        let read = |addr| Program::number(m, addr);
        let next = self.target(pc + 1);
        let (write, pc) = match instr {
            Instr::Break | Instr::Stop => return None,
            Instr::Const { to, value } => (Some((to, value)), next),
            Instr::Move { from, to } => (Some((to, read(from))), next),
            Instr::Add { left, right, to } => (Some((to, read(left).wrapping_add(read(right)))), next),
            Instr::Load { pointer, to } => (Some((to, read(self.pointed(read(pointer))))), next),
            Instr::Store { from, pointer } => (Some((self.pointed(read(pointer)), read(from))), next),
            Instr::Jump(to) => (None, to),
            Instr::JumpIf { odd, to } => (None, if read(odd) % 2 == 1 { to } else { next }),
            Instr::Call { link, to } => (Some((link, pc + 1)), to),
            Instr::Return { link } => (None, self.target(read(link))),
        };
        let mut m = m.clone();
        if let Some((to, value)) = write {
            m[usize::from(to)] = Val::Num(value);
        }
        Some(ProgramState { m, pc })
    }

    /// `getAccesses`: what the next instruction will read and write, in order; nothing at `BREAK`.
    pub(crate) fn get_accesses(&self, ProgramState { m, pc }: &ProgramState) -> Vec<Access> {
        let Val::Code(instr) = m[usize::from(*pc)] else { return vec![] };
        let read = |addr| Access { addr, write: false };
        let write = |addr| Access { addr, write: true };
        let pointed = |pointer| self.pointed(Program::number(m, pointer));
        match instr {
            Instr::Break | Instr::Stop | Instr::Jump(_) => vec![],
            Instr::Const { to, .. } => vec![write(to)],
            Instr::Move { from, to } => vec![read(from), write(to)],
            Instr::Add { left, right, to } => vec![read(left), read(right), write(to)],
            Instr::Load { pointer, to } => vec![read(pointer), read(pointed(pointer)), write(to)],
            Instr::Store { from, pointer } => vec![read(pointer), read(from), write(pointed(pointer))],
            Instr::JumpIf { odd, .. } => vec![read(odd)],
            Instr::Call { link, .. } => vec![write(link)],
            Instr::Return { link } => vec![read(link)],
        }
    }
}

/// An action of a program: `EXEC(m, a)` or `TRAP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProgramAction {
    Exec(Mem, Addr),
    Trap,
}

impl Language for Program {
    type Config = ProgramState;
    type Action = ProgramAction;
}

impl Semantics for Program {
    fn initial(&self) -> impl IntoIterator<Item = ProgramState> {
        let code = self.code.iter().copied().map(Val::Code);
        let m = code.chain(self.data.iter().copied().map(Val::Num)).collect();
        [ProgramState { m, pc: self.start }]
    }

    fn actions(&self, at: &ProgramState) -> impl IntoIterator<Item = ProgramAction> {
        if at.m[usize::from(at.pc)] == BREAK {
            Some(ProgramAction::Trap)
        } else {
            self.run_instr(at).map(|_| ProgramAction::Exec(at.m.clone(), at.pc))
        }
    }

    fn execute(&self, at: &ProgramState, action: &ProgramAction) -> impl IntoIterator<Item = ProgramState> {
        match action {
            // Rule NORMALEXEC.
            ProgramAction::Exec(..) => self.run_instr(at),
            // Rule BPHIT.
            ProgramAction::Trap => Some(at.clone()),
        }
    }
}
