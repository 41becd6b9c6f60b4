//! Where the agent's library is.

use invigil_session::subject::Trouble;
use std::path::{Path, PathBuf};

const NAME: &str = "libinvigil_jvm_agent.so";

/// The agent's library: what `INVIGIL_AGENT` names, or in `deps/` beside the command, beside it, or in `../lib/invigil`.
///
/// `deps/` is where cargo puts it whenever it builds the command; beside the command it is put only when the agent is
/// built by its name, and may be an older one.
///
/// # Errors
/// If there is none, with the remedy.
pub fn library() -> Result<PathBuf, Trouble> {
    if let Some(given) = std::env::var_os("INVIGIL_AGENT") {
        let given = PathBuf::from(given);
        return match given.is_file() {
            true => std::path::absolute(&given).map_err(|error| Trouble::Subject(error.to_string())),
            false => Err(Trouble::Subject(format!(
                "there is no file `{}`, which INVIGIL_AGENT names as the agent for Java programs",
                given.display()
            ))),
        };
    }
    let command = std::env::current_exe().and_then(|path| path.canonicalize());
    let folder = command.ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
    let places =
        [folder.join("deps").join(NAME), folder.join(NAME), folder.join("../lib/invigil").join(NAME)];
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return Ok(found.clone());
    }
    Err(Trouble::Subject(format!(
        "the agent for Java programs is missing: there is no `{NAME}` beside the command in `{}`, nor in `../lib/invigil`; \
         build it with `cargo build -p invigil-jvm-agent`, or name it in INVIGIL_AGENT",
        folder.display()
    )))
}
