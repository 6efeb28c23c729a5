//! The interface between a native skill and its host: a table of C functions that exchange JSON.
//!
//! **Problem.** Rust has no stable ABI, and a skill can be written in C. **Decision.** One symbol, [`ENTRY`], returns a [`Table`]
//! of functions that exchange JSON with its length. `sdk/include/metier.h` declares the same in C, and defines who frees what.
//!
//! **Invariants.** A panic never crosses the interface: it becomes an error. The side that allocated bytes frees them. The table
//! contains its size, so it can grow at its end; any other change requires another symbol.
#![expect(
    unsafe_code,
    reason = "pointers cross the boundary to C here, and only here on the skill's side"
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

/// The version of this interface.
pub const ABI: u32 = 1;
/// The symbol that returns the [`Table`]: a function without parameters.
pub const ENTRY: &str = "metier_skill_v1";

/// Bytes and their number; they belong to the side that allocated them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// The first byte; can be null if there are none.
    pub data: *const u8,
    /// The number of bytes.
    pub length: usize,
}

impl Bytes {
    /// No bytes.
    pub const NONE: Self = Self {
        data: ptr::null(),
        length: 0,
    };

    /// Borrows a slice.
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Self {
        Self {
            data: bytes.as_ptr(),
            length: bytes.len(),
        }
    }
}

/// The host's side: functions that a skill can call.
#[repr(C)]
#[derive(Debug)]
pub struct HostTable {
    /// The host's state; passed to each of its functions.
    pub context: *mut c_void,
    /// Takes `{"method":"host/…","params":…}`, returns `{"result":…}` or `{"error":…}`. The answer belongs to the host, and is valid until
    /// the next request or the end of the call.
    pub ask: extern "C" fn(context: *mut c_void, request: Bytes) -> Bytes,
}

/// The skill's side: the functions of a library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// [`ABI`].
    pub abi: u32,
    /// The size of this table.
    pub size: u32,
    /// Creates a skill; null on failure.
    pub create: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// Answers `{"method":…,"params":…}` with `{"result":…}` or `{"error":…}`. Returns 0, or another number if there is no answer.
    pub answer: Option<
        unsafe extern "C" fn(
            skill: *mut c_void,
            request: Bytes,
            host: *const HostTable,
            answer: *mut Bytes,
        ) -> i32,
    >,
    /// Frees an answer.
    pub release: Option<unsafe extern "C" fn(skill: *mut c_void, answer: Bytes)>,
    /// Destroys a skill.
    pub destroy: Option<unsafe extern "C" fn(skill: *mut c_void)>,
}

/// The table of a plugin, which [`crate::export_skill!`] exports.
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
        // SAFETY: the host's table is valid until this returns.
        let host = unsafe { &*host };
        // SAFETY: the request is the host's, and valid until this returns.
        let request = unsafe { read(request) };
        reply(skill, request, &mut Border(host))
    }));
    let Ok(text) = answered else {
        // Panics of handlers are caught earlier, so this is a bug in this module; the host reports it.
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
    // A panic in the author's `drop` has no caller left.
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
    // Writing these types to memory can't fail; if it did, the host would report an empty answer.
    serde_json::to_string(&Body::from(&answer)).unwrap_or_default()
}

/// The host, for one call.
struct Border<'a>(&'a HostTable);

impl Transport for Border<'_> {
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError> {
        let request = serde_json::to_vec(request)
            .map_err(|problem| RpcError::new(code::INTERNAL, problem.to_string()))?;
        let answer = (self.0.ask)(self.0.context, Bytes::of(&request));
        // SAFETY: the host's answer is valid until the next question, and is read before that.
        let answer = unsafe { read(answer) };
        Message::parse_answer(answer).unwrap_or_else(|malformed| {
            let message = format!("the host's answer is malformed: {malformed}");
            Err(RpcError::new(malformed.code, message))
        })
    }
}

/// Borrowed bytes.
///
/// # Safety
///
/// They must stay valid and unchanged for as long as they are used.
unsafe fn read<'a>(bytes: Bytes) -> &'a [u8] {
    if bytes.data.is_null() || bytes.length == 0 {
        return &[];
    }
    // SAFETY: not null, and the caller guarantees the rest.
    unsafe { slice::from_raw_parts(bytes.data, bytes.length) }
}
