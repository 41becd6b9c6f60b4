//! Expressions over a program's variables.

use invigil_debuginfo::value::Expression;

/// Any text is read or complained about, at a place in it. What can be read can be printed, and means the same
/// when it is read again.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Expression::parse(&text) {
        Ok(expression) => {
            let printed = expression.to_string();
            let again = Expression::parse(&printed)
                .unwrap_or_else(|mistake| panic!("printed into what cannot be read: {printed}: {mistake}"));
            assert_eq!(again.to_string(), printed, "printing twice is not printing once");
        }
        Err(mistake) => assert!(mistake.at <= text.len(), "a mistake outside of the text"),
    }
}
