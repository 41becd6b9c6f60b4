//! Where the agent's library is.

use invigil_session::library::Library;
use invigil_session::subject::Trouble;
use std::path::PathBuf;

const AGENT: Library = Library {
    file: "libinvigil_jvm_agent.so",
    what: "the agent for Java programs",
    variable: "INVIGIL_AGENT",
    package: "invigil-jvm-agent",
};

/// The agent's library; see [`Library::find`].
///
/// # Errors
/// If there is none, with the remedy.
pub fn library() -> Result<PathBuf, Trouble> {
    AGENT.find()
}
