//! Handlers that release the lock if an exception interrupts a locked write or its report.
//!
//! For each handler that the method has for such a write, there is an *exit path*: it releases the lock and jumps to
//! the handler. Its frame is that of the handler. For uncaught exceptions there is one more, which rethrows them.

use crate::bytes::Write;
use crate::code::{Code, Handler};
use crate::descriptor::Shape;
use crate::emit::Emitter;
use crate::error::ClassFileError;
use crate::layout::{Layout, ProbeCode};
use crate::opcode::{ATHROW, GOTO_W, MONITOREXIT};
use crate::sites::{InstructionEffect, SiteProbes, Sites};

/// Target of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitPath {
    /// The handler at this offset of the original code.
    Handler(u16),
    /// Out of the method.
    Out,
    /// Out of a constructor whose `this` is not initialised.
    Early,
}

/// The exit paths of locked writes.
#[derive(Debug, Default)]
pub(crate) struct UnlockHandlers {
    /// Protected code and its path: index of the instrumented instruction, the caught class, the path.
    caught: Vec<(usize, u16, ExitPath)>,
    /// All paths in order, with the offsets of their code.
    pub(crate) ways: Vec<(ExitPath, u32)>,
    /// The entries of the exception table; they precede all others.
    pub(crate) handlers: Vec<Handler>,
    /// Range of the code of [`ExitPath::Out`], whose exceptions leave the method.
    pub(crate) out: Option<(u32, u32)>,
}

/// Whether the lock is held around an instruction.
fn is_locked(work: &SiteProbes) -> bool {
    matches!(work.effect, InstructionEffect::Put { .. } | InstructionEffect::Store { .. })
        && work.after.iter().any(|probe| probe.locked)
}

impl UnlockHandlers {
    /// Determines the required paths.
    pub(crate) fn new(code: &Code<'_>, sites: &Sites, ready: &[bool]) -> UnlockHandlers {
        let mut exits = UnlockHandlers::default();
        for (probe_code, work) in sites.works.iter().enumerate().filter(|(_, work)| is_locked(work)) {
            let pc = code.pc(work.instruction);
            let around = code
                .handlers
                .iter()
                .filter(|handler| (usize::from(handler.start)..usize::from(handler.end)).contains(&pc));
            let mut all = false;
            for handler in around {
                exits.caught.push((probe_code, handler.catches, ExitPath::Handler(handler.handler)));
                all = handler.catches == 0;
                if all {
                    break;
                }
            }
            if !all {
                let early = ready.get(work.instruction).is_some_and(|ready| !ready);
                exits.caught.push((probe_code, 0, if early { ExitPath::Early } else { ExitPath::Out }));
            }
        }
        exits.ways = exits.caught.iter().map(|&(_, _, way)| (way, 0)).collect();
        exits.ways.sort_unstable();
        exits.ways.dedup();
        exits
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }

    /// Emits the paths at the end of the code.
    pub(crate) fn write(
        &mut self,
        code: &Code<'_>,
        layout: &Layout,
        probe_codes: &[ProbeCode],
        lock: u16,
        out: &mut Vec<u8>,
    ) -> Result<(), ClassFileError> {
        for (way, place) in &mut self.ways {
            *place = out.len() as u32;
            Emitter::variable(out, false, Shape::Reference, lock);
            out.put1(MONITOREXIT);
            match *way {
                ExitPath::Handler(pc) => {
                    let target = layout.target[code.index(pc.into())?];
                    let here = out.len() as u32;
                    out.put1(GOTO_W);
                    out.put4(target.wrapping_sub(here));
                }
                ExitPath::Out | ExitPath::Early => out.put1(ATHROW),
            }
            if *way == ExitPath::Out {
                self.out = Some((*place, out.len() as u32));
            }
        }
        self.handlers = Vec::with_capacity(self.caught.len());
        for &(probe_code, catches, way) in &self.caught {
            let probe_code = &probe_codes[probe_code];
            // From the write up to the instruction that releases the lock, which is the last one of its probe code.
            let end = layout.scope[probe_code.instruction + 1] + probe_code.after.len() as u32 - 1;
            let Ok(found) = self.ways.binary_search_by_key(&way, |&(way, _)| way) else { continue };
            self.handlers.push(Handler {
                start: layout.exact[probe_code.instruction] as u16,
                end: end as u16,
                handler: self.ways[found].1 as u16,
                catches,
            });
        }
        Ok(())
    }
}
