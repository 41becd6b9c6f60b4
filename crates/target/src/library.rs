//! Overrides, by environment variable, of the agent libraries embedded in `invigil`.

use crate::TargetError;
use std::path::PathBuf;

/// Returns the path of the library that the environment variable `variable` names, if it is set.
///
/// `description` stands for the library in the message: `the agent for Java programs`.
///
/// # Errors
/// If the variable does not name a file, or its absolute path cannot be determined.
pub fn library_override(variable: &str, description: &str) -> Result<Option<PathBuf>, TargetError> {
    let Some(path) = std::env::var_os(variable).map(PathBuf::from) else { return Ok(None) };
    if !path.is_file() {
        let path = path.display();
        return Err(TargetError::Control(format!(
            "{variable} is set to `{path}`, which is not a file; it must be the path of {description}"
        )));
    }
    std::path::absolute(&path).map(Some).map_err(|error| TargetError::Control(error.to_string()))
}
