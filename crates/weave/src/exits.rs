//! Letting go of the lock when an exception comes between a locked write and the end of its report.
//!
//! Each handler that the method has for such a place gets a *way* to it: the lock is released, and the handler
//! goes on as if nothing was between. Its frame is that of the handler. For exceptions that nobody catches there is one
//! more, which throws them on.

use crate::bytes::Write;
use crate::code::{Code, Handler};
use crate::descriptor::Shape;
use crate::emit::Emitter;
use crate::layout::{Layout, Piece};
use crate::opcode::{ATHROW, GOTO_W, MONITOREXIT};
use crate::problem::Problem;
use crate::sites::{Sites, What, Work};

/// Where an exception is led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// To the handler at this place of the old code.
    Handler(u16),
    /// Out of the method.
    Out,
    /// Out of a constructor whose `this` is not ready.
    Early,
}

/// The ways out of locked writes.
#[derive(Debug, Default)]
pub(crate) struct Exits {
    /// What is led where: the number of the piece, the class that is caught, and the way.
    caught: Vec<(usize, u16, Way)>,
    /// Every way, in order, and where its code is.
    pub(crate) ways: Vec<(Way, u32)>,
    /// The entries of the table of handlers, which come before all others.
    pub(crate) handlers: Vec<Handler>,
    /// Where the code of [`Way::Out`] is, whose exceptions leave the method.
    pub(crate) out: Option<(u32, u32)>,
}

/// Whether the lock is held around an instruction.
fn is_locked(work: &Work) -> bool {
    matches!(work.what, What::Put { .. } | What::Store { .. }) && work.after.iter().any(|probe| probe.locked)
}

impl Exits {
    /// Finds out which ways are needed.
    pub(crate) fn new(code: &Code<'_>, sites: &Sites, ready: &[bool]) -> Exits {
        let mut exits = Exits::default();
        for (piece, work) in sites.works.iter().enumerate().filter(|(_, work)| is_locked(work)) {
            let pc = code.pc(work.instruction);
            let around = code
                .handlers
                .iter()
                .filter(|handler| (usize::from(handler.start)..usize::from(handler.end)).contains(&pc));
            let mut all = false;
            for handler in around {
                exits.caught.push((piece, handler.catches, Way::Handler(handler.handler)));
                all = handler.catches == 0;
                if all {
                    break;
                }
            }
            if !all {
                let early = ready.get(work.instruction).is_some_and(|ready| !ready);
                exits.caught.push((piece, 0, if early { Way::Early } else { Way::Out }));
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

    /// Writes the ways at the end of the code.
    pub(crate) fn write(
        &mut self,
        code: &Code<'_>,
        layout: &Layout,
        pieces: &[Piece],
        lock: u16,
        out: &mut Vec<u8>,
    ) -> Result<(), Problem> {
        for (way, place) in &mut self.ways {
            *place = out.len() as u32;
            Emitter::variable(out, false, Shape::Reference, lock);
            out.put1(MONITOREXIT);
            match *way {
                Way::Handler(pc) => {
                    let target = layout.target[code.index(pc.into())?];
                    let here = out.len() as u32;
                    out.put1(GOTO_W);
                    out.put4(target.wrapping_sub(here));
                }
                Way::Out | Way::Early => out.put1(ATHROW),
            }
            if *way == Way::Out {
                self.out = Some((*place, out.len() as u32));
            }
        }
        self.handlers = Vec::with_capacity(self.caught.len());
        for &(piece, catches, way) in &self.caught {
            let piece = &pieces[piece];
            // From the write to the instruction that releases the lock, which is the last of the piece.
            let end = layout.scope[piece.instruction + 1] + piece.after.len() as u32 - 1;
            let Ok(found) = self.ways.binary_search_by_key(&way, |&(way, _)| way) else { continue };
            self.handlers.push(Handler {
                start: layout.exact[piece.instruction] as u16,
                end: end as u16,
                handler: self.ways[found].1 as u16,
                catches,
            });
        }
        Ok(())
    }
}
