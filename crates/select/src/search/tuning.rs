//! Every constant of the search, and the words with low weights.
//!
//! Each constant was chosen because all development sets of `docs/selection.md` agree on it; the table there shows
//! what each of them contributes. A constant that helps one set and hurts another stays at its usual value.

/// The weights of the parts of the search. A field of this type is one row of the ablation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchTuning {
    /// BM25 in name and description: how much further occurrences of a word add.
    pub head_k1: f32,
    /// BM25 in name and description: how much the length of a text lowers its score.
    pub head_b: f32,
    /// BM25 in the body.
    pub body_k1: f32,
    /// BM25 in the body: how much the length of a text lowers its score.
    pub body_b: f32,
    /// The weight of the body against name and description.
    pub body: f32,
    /// The weight of two neighbours of the task that are neighbours in the body.
    pub pairs: f32,
    /// The weight of a skill's whole name in the task.
    pub whole_name: f32,
    /// The weight of a word that resembles a word of a name and occurs nowhere else.
    pub misspelt: f32,
    /// The weight of words such as "please" and "need" in a task.
    pub filler: f32,
    /// The weight of numbers in a task.
    pub number: f32,
    /// How often a word of a task counts at most.
    pub repeated: f32,
    /// How many of the best are compared closely, by neighbours and whole names.
    pub compared: usize,
}

impl SearchTuning {
    /// The constants that the program uses.
    pub const CHOSEN: Self = Self {
        head_k1: 1.2,
        head_b: 0.75,
        body_k1: 1.2,
        body_b: 0.75,
        body: 2.0,
        pairs: 3.0,
        whole_name: 0.5,
        misspelt: 0.5,
        filler: 0.5,
        number: 0.5,
        repeated: 1.0,
        compared: 100,
    };

    /// Plain BM25 over two fields, the baseline.
    pub const TWO_FIELDS: Self = Self {
        body: 1.0,
        pairs: 0.0,
        whole_name: 0.0,
        misspelt: 0.0,
        filler: 1.0,
        number: 1.0,
        repeated: 3.0,
        ..Self::CHOSEN
    };
}

/// The weight of a name's words against those of the description.
pub(crate) const NAME_TIMES: u32 = 2;
/// How many words of a body are searched for neighbours.
pub(crate) const PAIR_WORDS: usize = 1_000;
/// The maximum length of a word, in characters; the rest is not compared.
pub(crate) const MAX_WORD: usize = 40;
/// The maximum number of different words of a task, and of its bytes, that are compared.
pub(crate) const MAX_TERMS: usize = 400;
/// See [`MAX_TERMS`].
pub(crate) const MAX_QUERY_BYTES: usize = 64 << 10;
/// A shorter word is not compared with similar ones.
pub(crate) const MIN_MISSPELT: usize = 5;
/// How many unknown words of a task are compared with similar ones.
pub(crate) const MAX_MISSPELT: usize = 8;

/// Words that are not compared: they occur in every text.
pub(crate) const STOP: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "for", "from", "had", "has",
    "have", "he", "her", "his", "i", "if", "in", "into", "is", "it", "its", "no", "not", "of",
    "on", "or", "she", "so", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "was", "we", "were", "will", "with", "you", "your",
];

/// Words of requests that reveal little about their subject.
pub(crate) const FILLER: &[&str] = &[
    "able",
    "about",
    "all",
    "also",
    "am",
    "any",
    "anything",
    "are",
    "best",
    "can",
    "could",
    "d",
    "did",
    "do",
    "does",
    "doing",
    "don",
    "etc",
    "find",
    "for",
    "get",
    "getting",
    "give",
    "go",
    "going",
    "good",
    "great",
    "guide",
    "hello",
    "help",
    "here",
    "hey",
    "hi",
    "how",
    "information",
    "interested",
    "just",
    "kind",
    "know",
    "let",
    "like",
    "ll",
    "looking",
    "lot",
    "m",
    "make",
    "many",
    "may",
    "me",
    "might",
    "more",
    "most",
    "much",
    "my",
    "need",
    "now",
    "one",
    "our",
    "please",
    "provide",
    "re",
    "really",
    "recommend",
    "recommendations",
    "s",
    "should",
    "some",
    "something",
    "suggest",
    "suggestions",
    "sure",
    "t",
    "tell",
    "thank",
    "thanks",
    "thing",
    "things",
    "think",
    "too",
    "try",
    "trying",
    "two",
    "us",
    "use",
    "user",
    "users",
    "using",
    "ve",
    "very",
    "want",
    "way",
    "ways",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "would",
    "yes",
];
