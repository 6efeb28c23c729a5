//! One clause: its request, and the object of the request.

use super::{
    clause::{Clause, Word},
    coding::{Context, Evidence, Sign, is_story, said, shown},
    words::{Class, Head, Noun, Role, Verb},
};

/// The type of a clause.
pub(super) enum Found<'c, 'a> {
    Request(Request<'c, 'a>),
    Question(&'c Word<'a>),
    Story,
    Statement,
}

impl Found<'_, '_> {
    /// Whether a word of the clause is the verb of its request.
    pub(super) fn is_verb(&self, word: &Word<'_>) -> bool {
        match self {
            Self::Request(request) => std::ptr::eq(request.word, word),
            _ => false,
        }
    }
}

/// Something that is requested, or forbidden.
pub(super) struct Request<'c, 'a> {
    word: &'c Word<'a>,
    verb: Verb,
    denied: Option<&'c Word<'a>>,
    object: Object<'c, 'a>,
}

/// The object of a verb.
struct Object<'c, 'a> {
    words: &'c [Word<'a>],
    /// The noun that determines what it is.
    head: Option<(Noun, &'c Word<'a>)>,
    /// Where it is, what it comes from, or what it becomes.
    place: Option<(Noun, &'c Word<'a>)>,
    /// It was mentioned before, or not at all.
    pronoun: bool,
}

/// Finds the request of a clause.
pub(super) fn find<'c, 'a>(clause: &'c Clause<'a>) -> Found<'c, 'a> {
    if is_story(clause) {
        return Found::Story;
    }
    let words = clause.words.as_slice();
    let Some(first) = words.first() else {
        return Found::Statement;
    };
    let asks = clause.asks && (first.is(Role::Wish) || first.is(Role::Pronoun));
    if asks || first.is(Role::Question) && first.sense.verb.is_none() {
        return Found::Question(first);
    }
    let request = at_start(words).or_else(|| at_end(words));
    request.map_or(Found::Statement, Found::Request)
}

/// A verb after the words that introduce a request.
fn at_start<'c, 'a>(words: &'c [Word<'a>]) -> Option<Request<'c, 'a>> {
    let mut denied = None;
    let mut asked = None;
    for (position, word) in words.iter().enumerate() {
        let rest = words.get(position + 1..).unwrap_or_default();
        let verb = word.sense.verb.filter(|_| word.shape.is_none());
        let verb = verb.filter(|verb| !verb.gerund || denied.is_some());
        if let Some(verb) = verb {
            if word.is(Role::Ask) && denied.is_none() {
                asked = Some((position, verb));
                continue;
            }
            return Some(Request::new(word, verb, denied, rest));
        }
        if word.is(Role::Deny) && rest.first().is_some_and(|next| may_follow_denial(next)) {
            denied = Some(word);
        } else if !word.is(Role::Lead) {
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
        .map(|word| Request::new(word, verb, denied, rest))
}

fn may_follow_denial(word: &Word<'_>) -> bool {
    word.sense.verb.is_some() || word.is(Role::Lead)
}

/// A verb at the end, as in German.
fn at_end<'c, 'a>(words: &'c [Word<'a>]) -> Option<Request<'c, 'a>> {
    let (word, before) = words.split_last()?;
    let verb = word.sense.verb.filter(|verb| verb.last)?;
    Some(Request::new(word, verb, None, before))
}

impl<'c, 'a> Request<'c, 'a> {
    fn new(
        word: &'c Word<'a>,
        verb: Verb,
        denied: Option<&'c Word<'a>>,
        rest: &'c [Word<'a>],
    ) -> Self {
        // `Ändere keinen Code`: the negation follows the verb.
        let behind = rest.first().filter(|word| word.is(Role::Deny));
        let behind = behind.filter(|_| verb.head == Head::Last);
        Self {
            word,
            verb,
            denied: denied.or(behind),
            object: Object::read(rest, verb.head),
        }
    }

    /// The evidence of the request.
    pub(super) fn judge(&self, context: &Context) -> Evidence {
        if let Some(denied) = self.denied {
            return self.deny(denied);
        }
        let verb = shown(&self.word.plain);
        let against = |detail: String| Evidence {
            sign: Sign::Leave,
            detail,
            weight: 0.0,
        };
        let changes = |weight: f64, what: String| Evidence {
            sign: Sign::Change,
            detail: format!("`{verb}` requests a change, and {what}"),
            weight,
        };
        if self.verb.class == Class::Leave {
            return against(format!("`{verb}` leaves code as it is"));
        }
        if self.verb.class == Class::Translate {
            let mut names = self.object.words.iter().filter(|word| is_name(word));
            let head = self.object.head.is_none_or(|(noun, _)| noun != Noun::Other);
            return match names.next().filter(|_| head) {
                Some(name) => changes(0.85, said(name)),
                None => against(format!("`{verb}` names no programming language")),
            };
        }
        let craft = self.verb.class == Class::Craft;
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
            (Some((Noun::Name, word)), _) if self.word.is(Role::Ask) => against(format!(
                "`{}` is requested, and no change",
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
    fn deny(&self, denied: &Word<'_>) -> Evidence {
        let mut words = self.object.words.iter().filter(|word| !word.is(Role::Deny));
        let position = words.position(|word| word.is(Role::Everything));
        let all = position.is_some_and(|position| position <= 1 && words.count() <= 1);
        let all = all && self.verb.class != Class::Leave;
        let (sign, what) = match all {
            true => (Sign::Denied, "no code is to be changed"),
            false => (Sign::Leave, "this is not requested"),
        };
        let (denied, verb) = (shown(denied.text), shown(self.word.text));
        Evidence {
            sign,
            detail: format!("`{denied} … {verb}`: {what}"),
            weight: 0.0,
        }
    }
}

impl<'c, 'a> Object<'c, 'a> {
    fn read(words: &'c [Word<'a>], head: Head) -> Self {
        let mut object = Self {
            words,
            head: None,
            place: None,
            pronoun: true,
        };
        let stage = words.iter().any(|word| word.is(Role::Stage));
        let mut at = At::Head;
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
                    at = At::Topic;
                }
                places +=
                    usize::from(before != At::Place && at == At::Place || word.is(Role::Place));
                object.pronoun &= is_small(word);
                begun |= !object.pronoun || word.is(Role::Pronoun);
                continue;
            };
            (object.pronoun, begun) = (false, true);
            match at {
                At::Head if decides(object.head, noun, head) => object.head = Some((noun, word)),
                At::Place
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

/// `tweets announcing …`: what they announce is their topic.
fn starts_topic(word: &Word<'_>, head: Option<(Noun, &Word<'_>)>) -> bool {
    word.plain.ends_with("ing") && head.is_some_and(|(noun, _)| noun == Noun::Other)
}

/// Whether a noun determines what a thing is, even after another noun.
fn decides(known: Option<(Noun, &Word<'_>)>, noun: Noun, head: Head) -> bool {
    match known {
        None => true,
        Some((Noun::Name, _)) => noun != Noun::Name,
        Some(_) => head == Head::Last && noun != Noun::Name,
    }
}

/// The current part of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Head,
    Place,
    Topic,
}

impl At {
    /// A word before a part of the object. Before the first part, it belongs to the verb: `get rid of`.
    fn next(self, word: &Word<'_>, begun: bool) -> Self {
        match self {
            Self::Head if !begun => Self::Head,
            _ if word.is(Role::Topic) => Self::Topic,
            Self::Head | Self::Topic if word.is(Role::Place) => Self::Place,
            at => at,
        }
    }
}

/// The type of a word as an object.
fn noun(word: &Word<'_>, stage: bool) -> Option<Noun> {
    match word.shape {
        Some(shape) if shape.is_code() => Some(Noun::Code),
        Some(super::thing::Shape::Prose) => Some(Noun::Other),
        Some(_) => None,
        None => match word.sense.noun {
            Some(Noun::Double) if stage => Some(Noun::Other),
            Some(Noun::Double) => Some(Noun::Code),
            noun => noun,
        },
    }
}

fn is_name(word: &Word<'_>) -> bool {
    word.shape.is_none() && word.sense.noun == Some(Noun::Name)
}

/// Whether a word has no meaning by itself.
fn is_small(word: &Word<'_>) -> bool {
    let roles = [
        Role::Pronoun,
        Role::Lead,
        Role::Place,
        Role::Topic,
        Role::Deny,
    ];
    roles.into_iter().any(|role| word.is(role))
}
