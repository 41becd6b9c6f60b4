//! Expressions over a program's variables.

use invigil_debuginfo::value::Expression;

/// No input causes a panic, and errors have a position in the text. A valid expression survives printing and parsing.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Expression::parse(&text) {
        Ok(expression) => {
            let printed = expression.to_string();
            let again = Expression::parse(&printed)
                .unwrap_or_else(|error| panic!("the printed expression is invalid: {printed}: {error}"));
            assert_eq!(again.to_string(), printed, "printing is not idempotent");
        }
        Err(error) => assert!(error.at <= text.len(), "the error is outside the text"),
    }
}
