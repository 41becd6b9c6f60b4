//! The agent's shared object, which the command carries.

use invigil_target::TargetError;
use invigil_target::library::library_override;
use std::path::PathBuf;

/// Shared object of the agent, as this command's version of the protocol needs it.
pub static AGENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libinvigil_jvm_agent_image.so"));

/// Name of its file, by which a loaded agent is recognised.
pub(crate) const FILE: &str = "libinvigil_jvm_agent.so";

/// Path of the agent that `INVIGIL_AGENT` names instead.
pub(crate) fn named_agent() -> Result<Option<PathBuf>, TargetError> {
    library_override("INVIGIL_AGENT", "the agent for Java programs")
}
