//! Handlers that release the lock if an exception interrupts a locked write or its report.
//!
//! For each handler that the method has for such a write, there is an *unlock path*: it releases the lock and jumps to
//! the handler. Its frame is that of the handler. For uncaught exceptions there are further paths, which rethrow them.

use crate::bytes::Write;
use crate::code::{Code, Handler};
use crate::descriptor::Shape;
use crate::emit::Emitter;
use crate::error::ClassFileError;
use crate::layout::{Layout, ProbeCode};
use crate::opcode::{ATHROW, GOTO_W, MONITOREXIT};
use crate::sites::{InstructionEffect, SiteProbes, Sites};

/// What an unlock path does after the release of the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnlockPath {
    /// Jumps to the handler at this offset of the original code.
    Handler(u16),
    /// Rethrows the exception out of the method.
    Rethrow,
    /// Rethrows it out of a constructor in which `this` is not initialised.
    RethrowBeforeInit,
}

/// The unlock paths of locked writes.
#[derive(Debug, Default)]
pub(crate) struct UnlockHandlers {
    /// Protected code and its path: index of the instrumented instruction, the caught class, the path.
    caught: Vec<(usize, u16, UnlockPath)>,
    /// All paths in order, with the offsets of their code.
    pub(crate) paths: Vec<(UnlockPath, u32)>,
    /// The entries of the exception table; they precede all others.
    pub(crate) handlers: Vec<Handler>,
    /// Range of the code of [`UnlockPath::Rethrow`], whose exceptions leave the method.
    pub(crate) rethrow_range: Option<(u32, u32)>,
}

/// Whether the lock is held around an instruction.
fn is_locked(site: &SiteProbes) -> bool {
    matches!(site.effect, InstructionEffect::Put { .. } | InstructionEffect::Store { .. })
        && site.after.iter().any(|probe| probe.locked)
}

impl UnlockHandlers {
    /// Determines the required paths.
    pub(crate) fn new(code: &Code<'_>, sites: &Sites, this_initialised: &[bool]) -> UnlockHandlers {
        let mut unlock = UnlockHandlers::default();
        for (probe_code, site) in sites.instructions.iter().enumerate().filter(|(_, site)| is_locked(site)) {
            let pc = code.pc(site.instruction);
            let around = code
                .handlers
                .iter()
                .filter(|handler| (usize::from(handler.start)..usize::from(handler.end)).contains(&pc));
            let mut catches_all = false;
            for handler in around {
                unlock.caught.push((probe_code, handler.catch_type, UnlockPath::Handler(handler.handler)));
                catches_all = handler.catch_type == 0;
                if catches_all {
                    break;
                }
            }
            if !catches_all {
                let is_initialised =
                    this_initialised.get(site.instruction).is_none_or(|initialised| *initialised);
                let path = if is_initialised { UnlockPath::Rethrow } else { UnlockPath::RethrowBeforeInit };
                unlock.caught.push((probe_code, 0, path));
            }
        }
        unlock.paths = unlock.caught.iter().map(|&(_, _, path)| (path, 0)).collect();
        unlock.paths.sort_unstable();
        unlock.paths.dedup();
        unlock
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
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
        for (path, offset) in &mut self.paths {
            *offset = out.len() as u32;
            Emitter::load_or_store(out, false, Shape::Reference, lock);
            out.put1(MONITOREXIT);
            match *path {
                UnlockPath::Handler(pc) => {
                    let target = layout.target[code.index(pc.into())?];
                    let pc = out.len() as u32;
                    out.put1(GOTO_W);
                    out.put4(target.wrapping_sub(pc));
                }
                UnlockPath::Rethrow | UnlockPath::RethrowBeforeInit => out.put1(ATHROW),
            }
            if *path == UnlockPath::Rethrow {
                self.rethrow_range = Some((*offset, out.len() as u32));
            }
        }
        self.handlers = Vec::with_capacity(self.caught.len());
        for &(probe_code, catch_type, path) in &self.caught {
            let probe_code = &probe_codes[probe_code];
            // From the write up to the instruction that releases the lock, which is the last one of its probe code.
            let end = layout.scope[probe_code.instruction + 1] + probe_code.after.len() as u32 - 1;
            let Ok(found) = self.paths.binary_search_by_key(&path, |&(path, _)| path) else { continue };
            self.handlers.push(Handler {
                start: layout.exact[probe_code.instruction] as u16,
                end: end as u16,
                handler: self.paths[found].1 as u16,
                catch_type,
            });
        }
        Ok(())
    }
}
