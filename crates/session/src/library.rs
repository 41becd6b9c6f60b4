//! Replacements for the libraries that the command carries and puts into programs.

use crate::target::TargetError;
use std::path::PathBuf;

/// Path of the library that the environment variable `variable` names, if it is set.
///
/// `what` describes the library in the message: `the agent for Java programs`.
///
/// # Errors
/// If the variable names no file.
pub fn replacement(variable: &str, what: &str) -> Result<Option<PathBuf>, TargetError> {
    let Some(given) = std::env::var_os(variable).map(PathBuf::from) else { return Ok(None) };
    if !given.is_file() {
        let given = given.display();
        return Err(TargetError::Control(format!(
            "{variable} names `{given}` as {what}, but there is no such file"
        )));
    }
    std::path::absolute(&given).map(Some).map_err(|error| TargetError::Control(error.to_string()))
}
