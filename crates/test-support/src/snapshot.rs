//! Expected outputs in files.

use std::path::Path;

/// Whether expected outputs are to be rewritten: `UPDATE_EXAMPLES` is set.
pub fn updating() -> bool {
    std::env::var_os("UPDATE_EXAMPLES").is_some()
}

/// Compares a text with a file, or writes the file if [`updating`]. A missing file counts as empty.
///
/// The error names the file and the first line that differs.
pub fn compare(file: &Path, actual: &str) -> Result<(), String> {
    compare_as(file, actual, |text| text.to_owned())
}

/// Like [`compare`] for texts that vary from run to run: only their normalized forms are compared.
pub fn compare_as(file: &Path, actual: &str, normalize: impl Fn(&str) -> String) -> Result<(), String> {
    let (left, right) = (normalize(&std::fs::read_to_string(file).unwrap_or_default()), normalize(actual));
    if left == right {
        return Ok(());
    }
    if updating() {
        return std::fs::write(file, actual).map_err(|error| format!("{}: {error}", file.display()));
    }
    let line = left.lines().zip(right.lines()).take_while(|(left, right)| left == right).count();
    let at = |text: &str| text.lines().nth(line).unwrap_or("(the end)").to_owned();
    Err(format!(
        "{}:{}: expected `{}`, got `{}`; all of it:\n{actual}",
        file.display(),
        line + 1,
        at(&left),
        at(&right)
    ))
}

/// Fails with all differences that a test found.
#[track_caller]
pub fn assert_all(results: impl IntoIterator<Item = Result<(), String>>) {
    let differences: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    assert!(differences.is_empty(), "{}\nUPDATE_EXAMPLES=1 writes the new outputs", differences.join("\n"));
}
