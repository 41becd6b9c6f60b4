//! The spellings of operators and names.

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Next,
    Finally,
    Globally,
    /// Globally not.
    Never,
    Yesterday,
    WeakYesterday,
    Once,
    Historically,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Implies,
    Iff,
    Or,
    Xor,
    And,
    Until,
    Release,
    WeakUntil,
    StrongRelease,
    Since,
    Triggered,
}

impl Unary {
    /// How we write it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Unary::Not => "!",
            Unary::Next => "X",
            Unary::Finally => "F",
            Unary::Globally => "G",
            Unary::Never => "never",
            Unary::Yesterday => "Y",
            Unary::WeakYesterday => "Z",
            Unary::Once => "O",
            Unary::Historically => "H",
        }
    }

    /// Whether it goes a step, so that a single number can say how many.
    pub(super) fn steps(self) -> bool {
        matches!(self, Unary::Next | Unary::Yesterday | Unary::WeakYesterday)
    }

    /// Whether it can have a bound.
    pub(super) fn bounded(self) -> bool {
        !matches!(self, Unary::Not | Unary::Never)
    }
}

impl Binary {
    /// How we write it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Binary::Implies => "->",
            Binary::Iff => "<->",
            Binary::Or => "|",
            Binary::Xor => "xor",
            Binary::And => "&",
            Binary::Until => "U",
            Binary::Release => "R",
            Binary::WeakUntil => "W",
            Binary::StrongRelease => "M",
            Binary::Since => "S",
            Binary::Triggered => "T",
        }
    }

    /// Which of two operators takes the operand between them: the one with the greater number.
    pub(super) fn strength(self) -> u8 {
        match self {
            Binary::Implies | Binary::Iff => 0,
            Binary::Or => 1,
            Binary::Xor => 2,
            Binary::And => 3,
            _ => 4,
        }
    }

    /// Whether the left of two equally strong operators takes it.
    pub(super) fn to_the_left(self) -> bool {
        matches!(self, Binary::Or | Binary::Xor | Binary::And)
    }

    /// Whether it can have a bound.
    pub(super) fn bounded(self) -> bool {
        self.strength() == 4
    }
}

/// A word that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Constant(bool),
    Unary(Unary),
    Binary(Binary),
}

/// The words that are never names unless they are quoted.
pub(super) fn reserved(text: &str) -> Option<Word> {
    Some(match text {
        "true" | "True" | "TRUE" => Word::Constant(true),
        "false" | "False" | "FALSE" => Word::Constant(false),
        "not" => Word::Unary(Unary::Not),
        "X" => Word::Unary(Unary::Next),
        "F" => Word::Unary(Unary::Finally),
        "G" => Word::Unary(Unary::Globally),
        "Y" => Word::Unary(Unary::Yesterday),
        "Z" => Word::Unary(Unary::WeakYesterday),
        "O" => Word::Unary(Unary::Once),
        "H" => Word::Unary(Unary::Historically),
        "and" => Word::Binary(Binary::And),
        "or" => Word::Binary(Binary::Or),
        "xor" => Word::Binary(Binary::Xor),
        "implies" => Word::Binary(Binary::Implies),
        "iff" => Word::Binary(Binary::Iff),
        "U" => Word::Binary(Binary::Until),
        "R" | "V" => Word::Binary(Binary::Release),
        "W" => Word::Binary(Binary::WeakUntil),
        "M" => Word::Binary(Binary::StrongRelease),
        "S" => Word::Binary(Binary::Since),
        "T" => Word::Binary(Binary::Triggered),
        _ => return None,
    })
}

/// The words that are operators where an operator makes sense, and names elsewhere: many programs have an
/// event `next` or `release`.
pub(super) fn soft(text: &str) -> Option<Word> {
    Some(match text {
        "next" | "next!" => Word::Unary(Unary::Next),
        "eventually" | "eventually!" | "finally" => Word::Unary(Unary::Finally),
        "always" | "globally" => Word::Unary(Unary::Globally),
        "never" => Word::Unary(Unary::Never),
        "yesterday" | "previously" => Word::Unary(Unary::Yesterday),
        "weak_yesterday" => Word::Unary(Unary::WeakYesterday),
        "once" => Word::Unary(Unary::Once),
        "historically" => Word::Unary(Unary::Historically),
        // As in PSL: only with the mark must the end come.
        "until" | "weak_until" => Word::Binary(Binary::WeakUntil),
        "until!" | "strong_until" => Word::Binary(Binary::Until),
        "release" | "releases" | "weak_release" => Word::Binary(Binary::Release),
        "release!" | "releases!" | "strong_release" => Word::Binary(Binary::StrongRelease),
        "since" => Word::Binary(Binary::Since),
        "triggered" => Word::Binary(Binary::Triggered),
        _ => return None,
    })
}

/// Signs, the longest first where one begins another.
const SIGNS: &[(&str, Word)] = {
    use Word::{Binary as B, Unary as U};
    &[
        ("<-->", B(Binary::Iff)),
        ("<->", B(Binary::Iff)),
        ("<=>", B(Binary::Iff)),
        ("-->", B(Binary::Implies)),
        ("->", B(Binary::Implies)),
        ("=>", B(Binary::Implies)),
        ("<>", U(Unary::Finally)),
        ("[]", U(Unary::Globally)),
        ("&&", B(Binary::And)),
        ("/\\", B(Binary::And)),
        ("||", B(Binary::Or)),
        ("\\/", B(Binary::Or)),
        ("&", B(Binary::And)),
        ("*", B(Binary::And)),
        ("|", B(Binary::Or)),
        ("+", B(Binary::Or)),
        ("^", B(Binary::Xor)),
        ("!", U(Unary::Not)),
        ("~", U(Unary::Not)),
        ("¬", U(Unary::Not)),
        ("∧", B(Binary::And)),
        ("⋀", B(Binary::And)),
        ("∨", B(Binary::Or)),
        ("⋁", B(Binary::Or)),
        ("⊕", B(Binary::Xor)),
        ("⊻", B(Binary::Xor)),
        ("→", B(Binary::Implies)),
        ("⇒", B(Binary::Implies)),
        ("⟶", B(Binary::Implies)),
        ("⟹", B(Binary::Implies)),
        ("↔", B(Binary::Iff)),
        ("⇔", B(Binary::Iff)),
        ("⟷", B(Binary::Iff)),
        ("⟺", B(Binary::Iff)),
        ("≡", B(Binary::Iff)),
        ("⊤", Word::Constant(true)),
        ("⊥", Word::Constant(false)),
        ("○", U(Unary::Next)),
        ("◯", U(Unary::Next)),
        ("◇", U(Unary::Finally)),
        ("◊", U(Unary::Finally)),
        ("⋄", U(Unary::Finally)),
        ("♢", U(Unary::Finally)),
        ("□", U(Unary::Globally)),
        ("◻", U(Unary::Globally)),
        ("⬜", U(Unary::Globally)),
        ("☐", U(Unary::Globally)),
        // The past: the same signs in black.
        ("●", U(Unary::Yesterday)),
        ("⊖", U(Unary::Yesterday)),
        ("◆", U(Unary::Once)),
        ("⟐", U(Unary::Once)),
        ("■", U(Unary::Historically)),
        ("⊡", U(Unary::Historically)),
        ("∪", B(Binary::Until)),
    ]
};

/// The sign with which a text begins, and its length.
pub(super) fn sign(text: &str) -> Option<(Word, usize)> {
    if let Some((sign, word)) = SIGNS.iter().find(|(sign, _)| text.starts_with(sign)) {
        return Some((*word, sign.len()));
    }
    let first = text.chars().next()?;
    Some((operator_letter(first)?, first.len_utf8()))
}

/// What a mathematical letter means, if it does.
fn operator_letter(letter: char) -> Option<Word> {
    reserved(mathematical(letter)?.encode_utf8(&mut [0; 4]))
}

/// The plain capital letter of a mathematical one: `U` for `𝒰`, `𝐔` and `𝕌`.
fn mathematical(letter: char) -> Option<char> {
    Some(match letter {
        'ℱ' => 'F',
        'ℋ' | 'ℌ' | 'ℍ' => 'H',
        'ℳ' => 'M',
        'ℛ' | 'ℜ' | 'ℝ' => 'R',
        'ℤ' | 'ℨ' => 'Z',
        '\u{1d400}'..='\u{1d6a3}' => {
            // Fourteen alphabets, capital letters before small ones.
            let place = (letter as u32 - 0x1d400) % 52;
            char::from(b'A' + u8::try_from(place).ok().filter(|place| *place < 26)?)
        }
        _ => return None,
    })
}

/// Whether a name can begin with it.
pub(super) fn begins_name(letter: char) -> bool {
    match letter {
        '_' | '$' => true,
        _ if letter.is_ascii() => letter.is_ascii_alphabetic(),
        _ => letter.is_alphabetic() && operator_letter(letter).is_none(),
    }
}

/// Whether a name can go on with it.
pub(super) fn continues_name(letter: char) -> bool {
    begins_name(letter) || letter.is_numeric() || letter == '#'
}

/// The name with which a text begins; nothing if there is none. Dots and double colons join names.
pub(super) fn name(text: &str) -> &str {
    let hash = usize::from(text.starts_with('#'));
    if !text[hash..].starts_with(begins_name) {
        return "";
    }
    let mut end = hash;
    loop {
        let rest = &text[end..];
        end += rest.find(|letter| !continues_name(letter)).unwrap_or(rest.len());
        let rest = &text[end..];
        let join = ["::", "."]
            .into_iter()
            .find(|join| rest.strip_prefix(join).is_some_and(|after| after.starts_with(continues_name)));
        match join {
            Some(join) => end += join.len(),
            None => return &text[..end],
        }
    }
}

/// Whether it looks like a name, be it one or an operator.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && name(text) == text
}

/// Whether a name is read as itself without quotes.
pub(super) fn is_plain(text: &str) -> bool {
    is_name(text) && reserved(text).is_none() && soft(text).is_none()
}

/// A text in quotes, so that it is read as the same text again.
pub(super) fn quoted(text: &str, quote: char) -> String {
    let mut all = String::with_capacity(text.len() + 2);
    all.push(quote);
    for letter in text.chars() {
        match letter {
            '\n' => all.push_str("\\n"),
            '\t' => all.push_str("\\t"),
            '\r' => all.push_str("\\r"),
            '\\' => all.push_str("\\\\"),
            _ if letter == quote => all.extend(['\\', letter]),
            _ if letter.is_control() || super::scan::is_invisible(letter) => {
                all.extend(letter.escape_unicode());
            }
            _ => all.push(letter),
        }
    }
    all.push(quote);
    all
}

/// How a name is written that was probably meant as operators: `G F a` for `GFa`.
///
/// `GFa` is one name, as it is for Spot. Who knows the names that there are can offer this for one that is not
/// among them.
///
/// ```
/// assert_eq!(invigil_ltl::syntax::unglued("GFa").as_deref(), Some("G F a"));
/// assert_eq!(invigil_ltl::syntax::unglued("Get"), None);
/// ```
pub fn unglued(name: &str) -> Option<String> {
    let operators = name.len() - name.trim_start_matches(['X', 'F', 'G']).len();
    let (glued, rest) = name.split_at(operators);
    // One letter may well begin a name; a single one after it, with or without a number, is an atom.
    let atom = rest.trim_end_matches(|letter: char| letter.is_ascii_digit()).len() == 1;
    if operators == 0 || operators == 1 && !atom || rest.starts_with('_') {
        return None;
    }
    let letters = glued.chars().map(String::from);
    Some(letters.chain(Some(rest.to_owned()).filter(|rest| !rest.is_empty())).collect::<Vec<_>>().join(" "))
}
