//! One clause: its request, and the object of the request.

use super::{
    clause::{Clause, ClauseWord},
    coding::{CodingEvidence, Sign, TaskContext, is_story, said, shown},
    words::{Noun, NounOrder, Verb, VerbClass, WordRole},
};

/// The type of a clause.
pub(super) enum ClauseKind<'c, 'a> {
    Request(TaskRequest<'c, 'a>),
    Question(&'c ClauseWord<'a>),
    Story,
    Statement,
}

impl ClauseKind<'_, '_> {
    /// Whether a word of the clause is the verb of its request.
    pub(super) fn is_verb(&self, word: &ClauseWord<'_>) -> bool {
        match self {
            Self::Request(request) => std::ptr::eq(request.word, word),
            _ => false,
        }
    }
}

/// A requested or forbidden action.
pub(super) struct TaskRequest<'c, 'a> {
    word: &'c ClauseWord<'a>,
    verb: Verb,
    denied: Option<&'c ClauseWord<'a>>,
    object: RequestObject<'c, 'a>,
}

/// The object of a verb.
struct RequestObject<'c, 'a> {
    words: &'c [ClauseWord<'a>],
    /// The noun that determines what it is.
    head: Option<(Noun, &'c ClauseWord<'a>)>,
    /// Where it is, what it comes from, or what it becomes.
    place: Option<(Noun, &'c ClauseWord<'a>)>,
    /// It was mentioned before, or not at all.
    pronoun: bool,
}

/// Finds the request of a clause.
pub(super) fn find<'c, 'a>(clause: &'c Clause<'a>) -> ClauseKind<'c, 'a> {
    if is_story(clause) {
        return ClauseKind::Story;
    }
    let words = clause.words.as_slice();
    let Some(first) = words.first() else {
        return ClauseKind::Statement;
    };
    let asks = clause.asks && (first.is(WordRole::Wish) || first.is(WordRole::Pronoun));
    if asks || first.is(WordRole::Question) && first.sense.verb.is_none() {
        return ClauseKind::Question(first);
    }
    let request = at_start(words).or_else(|| at_end(words));
    request.map_or(ClauseKind::Statement, ClauseKind::Request)
}

/// A verb after the words that introduce a request.
fn at_start<'c, 'a>(words: &'c [ClauseWord<'a>]) -> Option<TaskRequest<'c, 'a>> {
    let mut denied = None;
    let mut asked = None;
    for (position, word) in words.iter().enumerate() {
        let rest = words.get(position + 1..).unwrap_or_default();
        let verb = word.sense.verb.filter(|_| word.shape.is_none());
        let verb = verb.filter(|verb| !verb.gerund || denied.is_some());
        if let Some(verb) = verb {
            if word.is(WordRole::Ask) && denied.is_none() {
                asked = Some((position, verb));
                continue;
            }
            return Some(TaskRequest::new(word, verb, denied, rest));
        }
        if word.is(WordRole::Deny) && rest.first().is_some_and(|next| may_follow_denial(next)) {
            denied = Some(word);
        } else if !word.is(WordRole::Lead) {
            break;
        }
    }
    let (position, verb) = asked?;
    let rest = words.get(position + 1..).unwrap_or_default();
    // `I need to decide`: an unknown verb.
    if rest.first().is_some_and(|next| next.plain == "to") {
        return None;
    }
    words
        .get(position)
        .map(|word| TaskRequest::new(word, verb, denied, rest))
}

fn may_follow_denial(word: &ClauseWord<'_>) -> bool {
    word.sense.verb.is_some() || word.is(WordRole::Lead)
}

/// A verb at the end, as in German.
fn at_end<'c, 'a>(words: &'c [ClauseWord<'a>]) -> Option<TaskRequest<'c, 'a>> {
    let (word, before) = words.split_last()?;
    let verb = word.sense.verb.filter(|verb| verb.last)?;
    Some(TaskRequest::new(word, verb, None, before))
}

impl<'c, 'a> TaskRequest<'c, 'a> {
    fn new(
        word: &'c ClauseWord<'a>,
        verb: Verb,
        denied: Option<&'c ClauseWord<'a>>,
        rest: &'c [ClauseWord<'a>],
    ) -> Self {
        // `Ändere keinen Code`: the negation follows the verb.
        let behind = rest.first().filter(|word| word.is(WordRole::Deny));
        let behind = behind.filter(|_| verb.head == NounOrder::Last);
        Self {
            word,
            verb,
            denied: denied.or(behind),
            object: RequestObject::read(rest, verb.head),
        }
    }

    /// The evidence of the request.
    pub(super) fn judge(&self, context: &TaskContext) -> CodingEvidence {
        if let Some(denied) = self.denied {
            return self.deny(denied);
        }
        let verb = shown(&self.word.plain);
        let against = |detail: String| CodingEvidence {
            sign: Sign::Leave,
            detail,
            weight: 0.0,
        };
        let changes = |weight: f64, what: String| CodingEvidence {
            sign: Sign::Change,
            detail: format!("`{verb}` requests a change, and {what}"),
            weight,
        };
        if self.verb.class == VerbClass::Leave {
            return against(format!("`{verb}` leaves code as it is"));
        }
        if self.verb.class == VerbClass::Translate {
            let mut names = self.object.words.iter().filter(|word| is_name(word));
            let head = self.object.head.is_none_or(|(noun, _)| noun != Noun::Other);
            return match names.next().filter(|_| head) {
                Some(name) => changes(0.85, said(name)),
                None => against(format!("`{verb}` names no programming language")),
            };
        }
        let craft = self.verb.class == VerbClass::Craft;
        let place = self.object.place.filter(|(noun, _)| *noun != Noun::Other);
        match (self.object.head, place) {
            (Some((Noun::Other, word)), Some((_, place))) if craft => {
                let other = shown(&word.plain);
                changes(
                    0.7,
                    format!("although `{other}` is not code, {}", said(place)),
                )
            }
            (Some((Noun::Other, word)), _) => against(format!(
                "`{verb}` applies to `{}`, which is not code",
                shown(&word.plain)
            )),
            (Some((Noun::Name, word)), _) if self.word.is(WordRole::Ask) => against(format!(
                "`{}` is requested, not a change",
                shown(&word.plain)
            )),
            (Some((Noun::Name, word)), _) => changes(if craft { 0.9 } else { 0.7 }, said(word)),
            (Some((_, word)), _) => changes(if craft { 0.95 } else { 0.9 }, said(word)),
            (None, Some((_, word))) => changes(if craft { 0.9 } else { 0.7 }, said(word)),
            (None, None) => match (&context.code, &context.named) {
                (Some(code), _) if self.object.pronoun => changes(0.65, code.clone()),
                (_, Some(named)) => changes(0.65, named.clone()),
                _ if craft => changes(0.75, "it is a programming term".to_owned()),
                _ => against(format!("`{verb}` refers to no code")),
            },
        }
    }

    /// A clause that forbids changing code, without saying which, forbids all changes.
    fn deny(&self, denied: &ClauseWord<'_>) -> CodingEvidence {
        let mut words = self
            .object
            .words
            .iter()
            .filter(|word| !word.is(WordRole::Deny));
        let position = words.position(|word| word.is(WordRole::Everything));
        let all = position.is_some_and(|position| position <= 1 && words.count() <= 1);
        let all = all && self.verb.class != VerbClass::Leave;
        let (sign, what) = match all {
            true => (Sign::Denied, "no code should be changed"),
            false => (Sign::Leave, "this is not requested"),
        };
        let (denied, verb) = (shown(denied.text), shown(self.word.text));
        CodingEvidence {
            sign,
            detail: format!("`{denied} … {verb}`: {what}"),
            weight: 0.0,
        }
    }
}

impl<'c, 'a> RequestObject<'c, 'a> {
    fn read(words: &'c [ClauseWord<'a>], head: NounOrder) -> Self {
        let mut object = Self {
            words,
            head: None,
            place: None,
            pronoun: true,
        };
        let stage = words.iter().any(|word| word.is(WordRole::Stage));
        let mut at = ClausePlace::Head;
        let mut places = 0;
        let mut named = false;
        let mut begun = false;
        for word in words {
            let noun = noun(word, stage && !named);
            named |= noun == Some(Noun::Name);
            let Some(noun) = noun else {
                let before = at;
                at = at.next(word, begun);
                if starts_topic(word, object.head) {
                    at = ClausePlace::Topic;
                }
                places += usize::from(
                    before != ClausePlace::Place && at == ClausePlace::Place
                        || word.is(WordRole::Place),
                );
                object.pronoun &= is_small(word);
                begun |= !object.pronoun || word.is(WordRole::Pronoun);
                continue;
            };
            (object.pronoun, begun) = (false, true);
            match at {
                ClausePlace::Head if decides(object.head, noun, head) => {
                    object.head = Some((noun, word));
                }
                ClausePlace::Place
                    if object.place.is_none()
                        || places == 1 && decides(object.place, noun, head) =>
                {
                    object.place = Some((noun, word));
                }
                _ => {}
            }
        }
        object
    }
}

/// `tweets announcing …`: the words after the verb are their topic.
fn starts_topic(word: &ClauseWord<'_>, head: Option<(Noun, &ClauseWord<'_>)>) -> bool {
    word.plain.ends_with("ing") && head.is_some_and(|(noun, _)| noun == Noun::Other)
}

/// Whether a noun determines what a thing is, even after another noun.
fn decides(known: Option<(Noun, &ClauseWord<'_>)>, noun: Noun, head: NounOrder) -> bool {
    match known {
        None => true,
        Some((Noun::Name, _)) => noun != Noun::Name,
        Some(_) => head == NounOrder::Last && noun != Noun::Name,
    }
}

/// The current part of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClausePlace {
    Head,
    Place,
    Topic,
}

impl ClausePlace {
    /// A word before a part of the object. Before the first part, it belongs to the verb: `get rid of`.
    fn next(self, word: &ClauseWord<'_>, begun: bool) -> Self {
        match self {
            Self::Head if !begun => Self::Head,
            _ if word.is(WordRole::Topic) => Self::Topic,
            Self::Head | Self::Topic if word.is(WordRole::Place) => Self::Place,
            at => at,
        }
    }
}

/// The type of a word as an object.
fn noun(word: &ClauseWord<'_>, stage: bool) -> Option<Noun> {
    match word.shape {
        Some(shape) if shape.is_code() => Some(Noun::Code),
        Some(super::thing::ThingShape::Prose) => Some(Noun::Other),
        Some(_) => None,
        None => match word.sense.noun {
            Some(Noun::Double) if stage => Some(Noun::Other),
            Some(Noun::Double) => Some(Noun::Code),
            noun => noun,
        },
    }
}

fn is_name(word: &ClauseWord<'_>) -> bool {
    word.shape.is_none() && word.sense.noun == Some(Noun::Name)
}

/// Whether a word has no meaning by itself.
fn is_small(word: &ClauseWord<'_>) -> bool {
    let roles = [
        WordRole::Pronoun,
        WordRole::Lead,
        WordRole::Place,
        WordRole::Topic,
        WordRole::Deny,
    ];
    roles.into_iter().any(|role| word.is(role))
}
