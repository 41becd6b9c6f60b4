//! Replacements for the agent libraries that the command contains and loads into programs.

use crate::target::TargetError;
use std::path::PathBuf;

/// Returns the path of the library that the environment variable `variable` names, if it is set.
///
/// `what` describes the library in the message: `the agent for Java programs`.
///
/// # Errors
/// If the variable names no file.
pub fn replacement(variable: &str, what: &str) -> Result<Option<PathBuf>, TargetError> {
    let Some(path) = std::env::var_os(variable).map(PathBuf::from) else { return Ok(None) };
    if !path.is_file() {
        let path = path.display();
        return Err(TargetError::Control(format!(
            "{variable} names `{path}` as {what}, but there is no such file"
        )));
    }
    std::path::absolute(&path).map(Some).map_err(|error| TargetError::Control(error.to_string()))
}
