//! The words that the detector knows: one table for each language, all in one dictionary.
//!
//! A table contains the base forms of words. Inflected forms are generated here, with the few endings that requests
//! have: imperative and infinitive. Accents are removed on both sides, because many people don't type them.
//!
//! Words of several languages can have the same spelling (`no` denies in Spanish and means *in the* in Portuguese).
//! Such a word has both meanings, and the words around it decide.

mod english;
mod german;
mod names;
mod portuguese;
mod spanish;

use std::{collections::HashMap, sync::OnceLock};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// One natural language. Words are separated by commas.
pub(super) struct TaskLanguage {
    forms: Forms,
    head: NounOrder,
    /// Verbs that mean code unless their object says otherwise: *refactor*.
    craft: &'static str,
    /// Verbs that mean code when their object does: *write*.
    change: &'static str,
    /// Verbs that mean code when they convert it from one programming language to another.
    translate: &'static str,
    /// Verbs that leave code unchanged: *explain*, *deploy*.
    leave: &'static str,
    /// Things that are code or consist of it.
    code: &'static str,
    /// Things that are not code.
    other: &'static str,
    /// Words that give a [`double`](Self::double) word its other meaning: a *script* for a *video*.
    stage: &'static str,
    /// Code that has a second meaning.
    double: &'static str,
    /// Words before a topic.
    topic: &'static str,
    /// Words before a place or a purpose.
    place: &'static str,
    /// Words between two requests.
    join: &'static str,
    /// Words before the verb of a request.
    lead: &'static str,
    /// Verbs that only express a wish; the request follows them.
    ask: &'static str,
    /// Words that begin a question.
    question: &'static str,
    /// Words that negate.
    deny: &'static str,
    /// Objects of a negation that forbids all changes.
    everything: &'static str,
    /// Words for something mentioned before.
    pronoun: &'static str,
    /// Words that state how things should be.
    wish: &'static str,
    /// How a user story starts, and what follows in it.
    story: &'static [(&'static str, &'static str)],
}

/// Every supported language.
const TASK_LANGUAGES: [&TaskLanguage; 4] = [
    &english::ENGLISH,
    &portuguese::PORTUGUESE,
    &spanish::SPANISH,
    &german::GERMAN,
];

/// How verbs are inflected.
#[derive(Clone, Copy)]
enum Forms {
    English,
    Romance,
    German,
}

/// The noun of several that determines the thing: a *test plan* is a plan, a *plano de testes* too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NounOrder {
    First,
    Last,
}

/// The meaning of a verb for code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VerbClass {
    Craft,
    Change,
    Translate,
    Leave,
}

/// The meaning of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verb {
    pub(super) class: VerbClass,
    pub(super) head: NounOrder,
    /// It can be at the end of its clause.
    pub(super) last: bool,
    /// *changing*: not a request by itself.
    pub(super) gerund: bool,
}

/// The meaning of a noun for code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noun {
    Code,
    /// Code, unless a word of the stage is close.
    Double,
    /// The name of a language, a framework or a tool.
    Name,
    Other,
}

/// All meanings of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sense {
    pub(super) verb: Option<Verb>,
    pub(super) noun: Option<Noun>,
    flags: u16,
}

/// The role of a word in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum WordRole {
    Topic = 1,
    Place = 1 << 1,
    Join = 1 << 2,
    Lead = 1 << 3,
    Question = 1 << 4,
    Deny = 1 << 5,
    Everything = 1 << 6,
    Pronoun = 1 << 7,
    Wish = 1 << 8,
    Stage = 1 << 9,
    Ask = 1 << 10,
}

impl Sense {
    pub(super) fn is(self, role: WordRole) -> bool {
        self.flags & role as u16 != 0
    }

    /// The meaning as a part of a longer word.
    pub(super) fn as_part(self) -> Self {
        Self {
            noun: self.noun,
            ..Self::default()
        }
    }

    /// The meaning of a proper name.
    pub(super) fn name() -> Self {
        Self {
            noun: Some(Noun::Name),
            ..Self::default()
        }
    }
}

/// The dictionary of all languages.
pub(super) struct Words {
    senses: HashMap<String, Sense>,
    /// The first words of entries that have two or three, with their length.
    longer: HashMap<String, usize>,
    /// How user stories start, and what follows.
    pub(super) stories: Vec<(String, String)>,
}

impl Words {
    /// The dictionary, built on first use.
    pub(super) fn get() -> &'static Self {
        static WORDS: OnceLock<Words> = OnceLock::new();
        WORDS.get_or_init(Self::new)
    }

    /// The meaning of an entry: words as returned by [`plain`], separated by single spaces.
    pub(super) fn sense(&self, entry: &str) -> Option<Sense> {
        self.senses.get(entry).copied()
    }

    /// The number of words of the longest entry that starts with this one.
    pub(super) fn longest(&self, first: &str) -> usize {
        self.longer.get(first).copied().unwrap_or(1)
    }

    fn new() -> Self {
        let mut words = Self {
            senses: HashMap::new(),
            longer: HashMap::new(),
            stories: Vec::new(),
        };
        for tongue in TASK_LANGUAGES {
            words.add_verbs(tongue);
            words.add_nouns(tongue);
            words.add_roles(tongue);
        }
        for name in list(names::NAMES) {
            words.noun(name, Noun::Name);
        }
        words
    }

    fn add_verbs(&mut self, tongue: &TaskLanguage) {
        let classes = [
            (VerbClass::Leave, tongue.leave),
            (VerbClass::Translate, tongue.translate),
            (VerbClass::Change, tongue.change),
            (VerbClass::Craft, tongue.craft),
        ];
        for (class, verbs) in classes {
            for verb in list(verbs) {
                for (form, gerund, last) in tongue.forms.of(&plain(verb)) {
                    let verb = Verb {
                        class,
                        head: tongue.head,
                        last,
                        gerund,
                    };
                    // A verb of an earlier language stays a verb: the tables are in order of importance.
                    self.entry(&form).verb.get_or_insert(verb);
                }
            }
        }
    }

    fn add_nouns(&mut self, tongue: &TaskLanguage) {
        for word in list(tongue.double) {
            self.noun(word, Noun::Double);
        }
        for word in list(tongue.code) {
            self.noun(word, Noun::Code);
        }
        for word in list(tongue.other) {
            self.noun(word, Noun::Other);
        }
    }

    fn noun(&mut self, word: &str, noun: Noun) {
        let word = plain(word);
        self.entry(&word).noun.get_or_insert(noun);
        for form in plurals(&word) {
            self.entry(&form).noun.get_or_insert(noun);
        }
    }

    fn add_roles(&mut self, tongue: &TaskLanguage) {
        let roles = [
            (WordRole::Topic, tongue.topic),
            (WordRole::Place, tongue.place),
            (WordRole::Join, tongue.join),
            (WordRole::Lead, tongue.lead),
            (WordRole::Question, tongue.question),
            (WordRole::Deny, tongue.deny),
            (WordRole::Everything, tongue.everything),
            (WordRole::Pronoun, tongue.pronoun),
            (WordRole::Wish, tongue.wish),
            (WordRole::Stage, tongue.stage),
            (WordRole::Ask, tongue.ask),
        ];
        for (role, words) in roles {
            for word in list(words) {
                self.entry(&plain(word)).flags |= role as u16;
            }
        }
        let stories = tongue.story.iter();
        let stories = stories.map(|(begin, follow)| (plain(begin), plain(follow)));
        self.stories.extend(stories);
    }

    fn entry(&mut self, text: &str) -> &mut Sense {
        let mut parts = text.split(' ');
        let first = parts.next().unwrap_or_default();
        let count = 1 + parts.count();
        if count > 1 {
            let longest = self.longer.entry(first.to_owned()).or_default();
            *longest = count.max(*longest);
        }
        self.senses.entry(text.to_owned()).or_default()
    }
}

impl Forms {
    /// The forms of a verb: the form, whether it is a gerund, whether it can be last.
    fn of(self, verb: &str) -> Vec<(String, bool, bool)> {
        let mut forms = vec![(verb.to_owned(), false, matches!(self, Self::German))];
        let mut add = |form: String, gerund| forms.push((form, gerund, false));
        match self {
            Self::English => {
                let stem = verb.strip_suffix('e').unwrap_or(verb);
                add(format!("{stem}ing"), true);
            }
            Self::Romance => {
                if let Some(stem) = verb.strip_suffix("ar") {
                    let soft = match stem.char_indices().next_back() {
                        Some((at, 'c')) => format!("{}qu", &stem[..at]),
                        Some((_, 'g')) => format!("{stem}u"),
                        _ => stem.to_owned(),
                    };
                    for (stem, ending) in [(stem, "a"), (&soft, "e"), (&soft, "em"), (&soft, "es")]
                    {
                        add(format!("{stem}{ending}"), false);
                    }
                    add(format!("{stem}ando"), true);
                } else if let Some(stem) =
                    verb.strip_suffix("er").or_else(|| verb.strip_suffix("ir"))
                {
                    for ending in ["e", "a", "am", "as"] {
                        add(format!("{stem}{ending}"), false);
                    }
                }
            }
            Self::German => {
                if let Some(stem) = verb.strip_suffix("en") {
                    add(stem.to_owned(), false);
                    add(format!("{stem}e"), false);
                }
            }
        }
        forms
    }
}

/// The words of a table.
fn list(words: &'static str) -> impl Iterator<Item = &'static str> {
    words
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
}

/// Plurals by the endings that English, Portuguese and Spanish share; others are in the tables.
fn plurals(word: &str) -> Vec<String> {
    if word.ends_with('s') {
        return vec![format!("{word}es")];
    }
    let mut forms = vec![format!("{word}s")];
    if word.ends_with(['x', 'h', 'r', 'n', 'l']) {
        forms.push(format!("{word}es"));
    }
    if let Some(stem) = word.strip_suffix('y') {
        forms.push(format!("{stem}ies"));
    }
    if let Some(stem) = word.strip_suffix("ao") {
        forms.push(format!("{stem}oes"));
    }
    forms
}

/// A word as it is looked up: lower case, without accents, with one kind of apostrophe.
pub(super) fn plain(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let letters = text.nfkd().filter(|c| !is_combining_mark(*c));
    let letters = letters.map(|c| if c == '’' { '\'' } else { c });
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_hold_nothing_that_never_matches() {
        for tongue in TASK_LANGUAGES {
            let joins: Vec<&str> = list(tongue.join).collect();
            let tables = [
                tongue.craft,
                tongue.change,
                tongue.leave,
                tongue.code,
                tongue.other,
            ];
            for table in tables {
                let words: Vec<&str> = list(table).collect();
                assert!(words.is_sorted(), "not sorted: {table}");
                for word in words.iter().filter(|word| word.contains(' ')) {
                    let mut parts = word.split(' ');
                    assert!(
                        !parts.any(|part| joins.contains(&part)),
                        "`{word}` is two clauses"
                    );
                }
            }
            let code: Vec<&str> = list(tongue.code).collect();
            let both = list(tongue.other).find(|word| code.contains(word));
            assert_eq!(both, None, "code, or not?");
        }
    }

    #[test]
    fn verbs_have_the_forms_of_requests() {
        let class = |word: &str| {
            Words::get()
                .sense(&plain(word))
                .and_then(|sense| sense.verb)
        };
        let class = |word: &str| class(word).map(|verb| verb.class);
        for word in [
            "refatorar",
            "refatore",
            "refatora",
            "Refaktoriere",
            "implementiere",
            "refactor",
        ] {
            assert_eq!(class(word), Some(VerbClass::Craft), "{word}");
        }
        for word in [
            "corrija", "CORRIGIR", "troque", "escreva", "añade", "agrega", "schreib", "behebe",
            "fix",
        ] {
            assert_eq!(class(word), Some(VerbClass::Change), "{word}");
        }
        for word in ["explique", "explica", "publique", "prüfe", "explain"] {
            assert_eq!(class(word), Some(VerbClass::Leave), "{word}");
        }
        assert_eq!(class("letter"), None);
    }

    #[test]
    fn nouns_have_plurals() {
        let noun = |word: &str| {
            Words::get()
                .sense(&plain(word))
                .and_then(|sense| sense.noun)
        };
        for word in [
            "bugs",
            "queries",
            "funções",
            "funcoes",
            "classes",
            "botões",
            "indexes",
        ] {
            assert!(noun(word).is_some_and(|noun| noun != Noun::Other), "{word}");
        }
    }
}
