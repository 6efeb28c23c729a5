//! The border between a native skill and its host: a table of C functions, and JSON that crosses it.
//!
//! **Problem.** Rust has no stable ABI, and a skill may be written in C. **Decision.** One symbol, [`ENTRY`], gives out a [`Table`]
//! of functions; what they exchange is JSON with its length. `sdk/include/metier.h` says the same in C, and who frees what.
//!
//! **Invariants.** A panic never crosses: it becomes an error. Whoever made bytes frees them. The table says how long it is, so it
//! can grow at its end; a change of anything else is another symbol.
#![expect(
    unsafe_code,
    reason = "pointers cross the border to C here, and only here on the skill's side"
)]

use std::{
    ffi::c_void,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
};

use serde_json::Value;

use crate::{
    guest::{HostError, Plugin, Skill, Transport},
    wire::{
        HostRequest, RpcError, code,
        envelope::{Body, Message},
    },
};

/// The version of this border.
pub const ABI: u32 = 1;
/// The symbol that gives out the [`Table`]: a function without parameters.
pub const ENTRY: &str = "metier_skill_v1";

/// Bytes and how many there are; they belong to whoever made them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// The first; may be null if there are none.
    pub data: *const u8,
    /// How many.
    pub length: usize,
}

impl Bytes {
    /// No bytes.
    pub const NONE: Self = Self {
        data: ptr::null(),
        length: 0,
    };

    /// Borrowed from here.
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Self {
        Self {
            data: bytes.as_ptr(),
            length: bytes.len(),
        }
    }
}

/// The host's side: whom a skill asks.
#[repr(C)]
#[derive(Debug)]
pub struct HostTable {
    /// The host's own; passed to each of its functions.
    pub context: *mut c_void,
    /// Asks `{"method":"host/…","params":…}`, gives `{"result":…}` or `{"error":…}`. The answer is the host's, and is there until
    /// the next question or the end of the call.
    pub ask: extern "C" fn(context: *mut c_void, request: Bytes) -> Bytes,
}

/// The skill's side: what a library gives out.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// [`ABI`].
    pub abi: u32,
    /// The size of this table.
    pub size: u32,
    /// Makes a skill; null if it can't.
    pub create: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// Answers `{"method":…,"params":…}` with `{"result":…}` or `{"error":…}`; 0, or anything else if there is no answer.
    pub answer: Option<
        unsafe extern "C" fn(
            skill: *mut c_void,
            request: Bytes,
            host: *const HostTable,
            answer: *mut Bytes,
        ) -> i32,
    >,
    /// Takes an answer back.
    pub release: Option<unsafe extern "C" fn(skill: *mut c_void, answer: Bytes)>,
    /// Ends a skill.
    pub destroy: Option<unsafe extern "C" fn(skill: *mut c_void)>,
}

/// The table of a plugin; what [`crate::export_skill!`] gives out.
#[must_use]
pub const fn table<P: Plugin + Default + 'static>() -> &'static Table {
    const { &Exported::<P>::TABLE }
}

struct Exported<P>(PhantomData<P>);

impl<P: Plugin + Default + 'static> Exported<P> {
    const TABLE: Table = Table {
        abi: ABI,
        #[expect(clippy::cast_possible_truncation, reason = "a few words long")]
        size: size_of::<Table>() as u32,
        create: Some(create::<P>),
        answer: Some(answer),
        release: Some(release),
        destroy: Some(destroy),
    };
}

extern "C" fn create<P: Plugin + Default + 'static>() -> *mut c_void {
    let skill = catch_unwind(|| Box::new(Skill::of(P::default())));
    skill.map_or(ptr::null_mut(), |skill| Box::into_raw(skill).cast())
}

unsafe extern "C" fn answer(
    skill: *mut c_void,
    request: Bytes,
    host: *const HostTable,
    answer: *mut Bytes,
) -> i32 {
    let answered = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the host passes what `create` gave it, and one call at a time.
        let skill = unsafe { &mut *skill.cast::<Skill>() };
        // SAFETY: the host's table is there until this returns.
        let host = unsafe { &*host };
        // SAFETY: the request is the host's, and there until this returns.
        let request = unsafe { read(request) };
        reply(skill, request, &mut Border(host))
    }));
    let Ok(text) = answered else {
        // Handlers can't panic up to here, so this is a bug of this module; the host has words for it.
        return 1;
    };
    let text = Box::leak(text.into_bytes().into_boxed_slice());
    // SAFETY: the host passes a place for the answer.
    unsafe { answer.write(Bytes::of(text)) };
    0
}

unsafe extern "C" fn release(_skill: *mut c_void, answer: Bytes) {
    let bytes = ptr::slice_from_raw_parts_mut(answer.data.cast_mut(), answer.length);
    // SAFETY: `answer` leaked exactly this box, and the host gives each back once.
    drop(unsafe { Box::from_raw(bytes) });
}

unsafe extern "C" fn destroy(skill: *mut c_void) {
    // SAFETY: the host passes what `create` gave it, once, and nothing after it.
    let skill = unsafe { Box::from_raw(skill.cast::<Skill>()) };
    // What the author's `drop` panics about concerns nobody any more.
    let _panicked = catch_unwind(AssertUnwindSafe(|| drop(skill)));
}

fn reply(skill: &mut Skill, request: &[u8], host: &mut Border<'_>) -> String {
    let answer = match serde_json::from_slice::<Value>(request) {
        Ok(mut request) => {
            let params = request.get_mut("params").map(Value::take);
            let method = request.get("method").and_then(Value::as_str);
            skill.answer(method.unwrap_or_default(), params.unwrap_or_default(), host)
        }
        Err(problem) => Err(RpcError::new(code::PARSE, problem.to_string())),
    };
    // Writing these types to memory can't fail; without an answer the host reports one that is empty.
    serde_json::to_string(&Body::from(&answer)).unwrap_or_default()
}

/// The host across the border, for one call.
struct Border<'a>(&'a HostTable);

impl Transport for Border<'_> {
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError> {
        let request = serde_json::to_vec(request)
            .map_err(|problem| RpcError::new(code::INTERNAL, problem.to_string()))?;
        let answer = (self.0.ask)(self.0.context, Bytes::of(&request));
        // SAFETY: the host's answer is there until the next question, and is read before that.
        let answer = unsafe { read(answer) };
        Message::parse_answer(answer).unwrap_or_else(|malformed| {
            let message = format!("the host's answer is malformed: {malformed}");
            Err(RpcError::new(malformed.code, message))
        })
    }
}

/// The bytes that somebody lent.
///
/// # Safety
///
/// They must be there, unchanged, for as long as they are used.
unsafe fn read<'a>(bytes: Bytes) -> &'a [u8] {
    if bytes.data.is_null() || bytes.length == 0 {
        return &[];
    }
    // SAFETY: not null, and the caller says the rest.
    unsafe { slice::from_raw_parts(bytes.data, bytes.length) }
}
