//! Spellings of operators, keywords and names.

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Next,
    Finally,
    Globally,
    /// `never a`, which is `G !a`.
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
    /// Returns the standard spelling.
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

    /// Whether the operator is a step, whose bound is a single number of steps.
    pub(super) fn is_step(self) -> bool {
        matches!(self, Unary::Next | Unary::Yesterday | Unary::WeakYesterday)
    }

    /// Whether the operator can have a bound.
    pub(super) fn can_have_bound(self) -> bool {
        !matches!(self, Unary::Not | Unary::Never)
    }
}

impl Binary {
    /// Returns the standard spelling.
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

    /// Returns the precedence: greater numbers bind tighter.
    pub(super) fn precedence(self) -> u8 {
        match self {
            Binary::Implies | Binary::Iff => 0,
            Binary::Or => 1,
            Binary::Xor => 2,
            Binary::And => 3,
            _ => 4,
        }
    }

    /// Whether operators of this precedence group to the left.
    pub(super) fn is_left_associative(self) -> bool {
        matches!(self, Binary::Or | Binary::Xor | Binary::And)
    }

    /// Whether the operator can have a bound.
    pub(super) fn can_have_bound(self) -> bool {
        self.precedence() == 4
    }
}

/// Meaning of a keyword or symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Constant(bool),
    Unary(Unary),
    Binary(Binary),
}

/// Returns the meaning of a reserved keyword, which is a name only in quotes.
pub(super) fn reserved_keyword(text: &str) -> Option<Keyword> {
    Some(match text {
        "true" | "True" | "TRUE" => Keyword::Constant(true),
        "false" | "False" | "FALSE" => Keyword::Constant(false),
        "not" => Keyword::Unary(Unary::Not),
        "X" => Keyword::Unary(Unary::Next),
        "F" => Keyword::Unary(Unary::Finally),
        "G" => Keyword::Unary(Unary::Globally),
        "Y" => Keyword::Unary(Unary::Yesterday),
        "Z" => Keyword::Unary(Unary::WeakYesterday),
        "O" => Keyword::Unary(Unary::Once),
        "H" => Keyword::Unary(Unary::Historically),
        "and" => Keyword::Binary(Binary::And),
        "or" => Keyword::Binary(Binary::Or),
        "xor" => Keyword::Binary(Binary::Xor),
        "implies" => Keyword::Binary(Binary::Implies),
        "iff" => Keyword::Binary(Binary::Iff),
        "U" => Keyword::Binary(Binary::Until),
        "R" | "V" => Keyword::Binary(Binary::Release),
        "W" => Keyword::Binary(Binary::WeakUntil),
        "M" => Keyword::Binary(Binary::StrongRelease),
        "S" => Keyword::Binary(Binary::Since),
        "T" => Keyword::Binary(Binary::Triggered),
        _ => return None,
    })
}

/// Returns the meaning of a soft keyword, which is a name where no operator can be: many programs have an event `next` or
/// `release`.
pub(super) fn soft_keyword(text: &str) -> Option<Keyword> {
    Some(match text {
        "next" | "next!" => Keyword::Unary(Unary::Next),
        "eventually" | "eventually!" | "finally" => Keyword::Unary(Unary::Finally),
        "always" | "globally" => Keyword::Unary(Unary::Globally),
        "never" => Keyword::Unary(Unary::Never),
        "yesterday" | "previously" => Keyword::Unary(Unary::Yesterday),
        "weak_yesterday" => Keyword::Unary(Unary::WeakYesterday),
        "once" => Keyword::Unary(Unary::Once),
        "historically" => Keyword::Unary(Unary::Historically),
        // As in PSL: `!` marks the strong operator.
        "until" | "weak_until" => Keyword::Binary(Binary::WeakUntil),
        "until!" | "strong_until" => Keyword::Binary(Binary::Until),
        "release" | "releases" | "weak_release" => Keyword::Binary(Binary::Release),
        "release!" | "releases!" | "strong_release" => Keyword::Binary(Binary::StrongRelease),
        "since" => Keyword::Binary(Binary::Since),
        "triggered" => Keyword::Binary(Binary::Triggered),
        _ => return None,
    })
}

/// Symbols; a symbol precedes its own prefixes.
const SYMBOLS: &[(&str, Keyword)] = {
    use Keyword::{Binary as B, Unary as U};
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
        ("⊤", Keyword::Constant(true)),
        ("⊥", Keyword::Constant(false)),
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
        // Past operators: filled variants of the future symbols.
        ("●", U(Unary::Yesterday)),
        ("⊖", U(Unary::Yesterday)),
        ("◆", U(Unary::Once)),
        ("⟐", U(Unary::Once)),
        ("■", U(Unary::Historically)),
        ("⊡", U(Unary::Historically)),
        ("∪", B(Binary::Until)),
    ]
};

/// Returns the symbol at the start of a text, and its length.
pub(super) fn symbol(text: &str) -> Option<(Keyword, usize)> {
    if let Some((symbol, keyword)) = SYMBOLS.iter().find(|(symbol, _)| text.starts_with(symbol)) {
        return Some((*keyword, symbol.len()));
    }
    let first = text.chars().next()?;
    Some((operator_letter(first)?, first.len_utf8()))
}

/// Returns the operator for a mathematical letter.
fn operator_letter(letter: char) -> Option<Keyword> {
    reserved_keyword(mathematical(letter)?.encode_utf8(&mut [0; 4]))
}

/// Returns the ASCII capital for a mathematical letter: `U` for `𝒰`, `𝐔` and `𝕌`.
fn mathematical(letter: char) -> Option<char> {
    Some(match letter {
        'ℱ' => 'F',
        'ℋ' | 'ℌ' | 'ℍ' => 'H',
        'ℳ' => 'M',
        'ℛ' | 'ℜ' | 'ℝ' => 'R',
        'ℤ' | 'ℨ' => 'Z',
        '\u{1d400}'..='\u{1d6a3}' => {
            // Fourteen alphabets of 52 letters, capitals first.
            let index = (letter as u32 - 0x1d400) % 52;
            char::from(b'A' + u8::try_from(index).ok().filter(|index| *index < 26)?)
        }
        _ => return None,
    })
}

/// Whether a name can start with this character.
pub(super) fn is_name_start(letter: char) -> bool {
    match letter {
        '_' | '$' => true,
        _ if letter.is_ascii() => letter.is_ascii_alphabetic(),
        _ => letter.is_alphabetic() && operator_letter(letter).is_none(),
    }
}

/// Whether a name can continue with this character.
pub(super) fn is_name_continue(letter: char) -> bool {
    is_name_start(letter) || letter.is_numeric() || letter == '#'
}

/// Returns the name at the start of a text, or an empty string. Dots and double colons join names.
pub(super) fn name_prefix(text: &str) -> &str {
    let hash = usize::from(text.starts_with('#'));
    if !text[hash..].starts_with(is_name_start) {
        return "";
    }
    let mut end = hash;
    loop {
        let rest = &text[end..];
        end += rest.find(|letter| !is_name_continue(letter)).unwrap_or(rest.len());
        let rest = &text[end..];
        let join = ["::", "."]
            .into_iter()
            .find(|join| rest.strip_prefix(join).is_some_and(|after| after.starts_with(is_name_continue)));
        match join {
            Some(join) => end += join.len(),
            None => return &text[..end],
        }
    }
}

/// Whether a text has the form of a name, keywords included.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_prefix(text) == text
}

/// Whether a name needs no quotes.
pub(super) fn is_plain(text: &str) -> bool {
    is_name(text) && reserved_keyword(text).is_none() && soft_keyword(text).is_none()
}

/// Quotes and escapes a text so that it parses to the same text.
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

/// Separates the operators at the start of a name: `G F a` for `GFa`.
///
/// `GFa` is a single name, as in Spot. Use this to suggest a correction for an unknown name.
///
/// ```
/// assert_eq!(invigil_ltl::syntax::separate_operators("GFa").as_deref(), Some("G F a"));
/// assert_eq!(invigil_ltl::syntax::separate_operators("Get"), None);
/// ```
pub fn separate_operators(name: &str) -> Option<String> {
    let operators = name.len() - name.trim_start_matches(['X', 'F', 'G']).len();
    let (prefix, rest) = name.split_at(operators);
    // A single operator letter is separated only from an atom of one letter with an optional number, as in `Fp0`.
    let atom = rest.trim_end_matches(|letter: char| letter.is_ascii_digit()).len() == 1;
    if operators == 0 || operators == 1 && !atom || rest.starts_with('_') {
        return None;
    }
    let letters = prefix.chars().map(String::from);
    Some(letters.chain(Some(rest.to_owned()).filter(|rest| !rest.is_empty())).collect::<Vec<_>>().join(" "))
}
