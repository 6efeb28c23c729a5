//! A loaded library, and the calls to it: everything that trusts its pointers.
//!
//! **Problem.** Nothing that a library returns can be trusted, and much of it can't be checked: a wrong pointer crashes the process.
//! **Decision.** Everything that can be checked is checked (null, alignment, sizes, lengths); the process around it contains the rest. The
//! host's state is never freed, so that a late `ask`, or one from another thread, gets an error instead of freed memory.
#![expect(
    unsafe_code,
    reason = "a library is called here, and nowhere else; each block states what it relies on"
)]

use std::{
    cell::{Cell, RefCell},
    error::Error,
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    ptr, slice,
    thread::{self, ThreadId},
};

use libloading::os::unix::{self, RTLD_LOCAL, RTLD_NOW};
use metier_sdk::{
    native::{ABI, Bytes, ENTRY, HostTable, Table},
    wire::{MAX_FRAME, RpcError, envelope::Message},
};
use serde_json::Value;

use crate::{AbiError, LoadError, kind};

/// Answers a request of the library; it always returns an answer.
pub(crate) type AskHost<'a> = dyn FnMut(&[u8]) -> Vec<u8> + 'a;

/// The answer to a request at the wrong time or from the wrong thread.
const NOT_NOW: &[u8] = br#"{"error":{"code":-32600,"message":"only the thread that was called can ask the host, and only until it returns"}}"#;
/// The answer if our side of `ask` panics.
const BROKEN: &[u8] =
    br#"{"error":{"code":-32603,"message":"the host could not answer; this is a bug in metier"}}"#;

/// The header of a table, the only part that all versions have in common.
#[repr(C)]
#[derive(Clone, Copy)]
struct TableHead {
    abi: u32,
    size: u32,
}

/// A library and its skill. The library is never unloaded: its code can run until the process ends.
pub(crate) struct LoadedLibrary {
    functions: Functions,
    skill: *mut c_void,
    host: &'static HostTable,
    desk: &'static CallContext,
}

/// The functions of a complete table.
struct Functions {
    answer: unsafe extern "C" fn(*mut c_void, Bytes, *const HostTable, *mut Bytes) -> i32,
    release: unsafe extern "C" fn(*mut c_void, Bytes),
    destroy: unsafe extern "C" fn(*mut c_void),
}

/// The host's state for requests of the library.
struct CallContext {
    /// The thread that is called, and can send requests.
    thread: ThreadId,
    /// The function that answers during a call: a `*mut &mut Ask`. Only that thread uses it.
    answering: Cell<*mut c_void>,
    /// The last answer, which the library can still read.
    kept: RefCell<Vec<u8>>,
}

impl LoadedLibrary {
    /// Loads a library, checks its table, and creates a skill.
    pub(crate) fn open(path: &Path) -> Result<Self, LoadError> {
        kind::check(path)?;
        let table = table(path, entry(path)?)?;
        let hole = |function| LoadError::Hole {
            path: path.to_owned(),
            function,
        };
        let create = table.create.ok_or_else(|| hole("create"))?;
        let functions = Functions {
            answer: table.answer.ok_or_else(|| hole("answer"))?,
            release: table.release.ok_or_else(|| hole("release"))?,
            destroy: table.destroy.ok_or_else(|| hole("destroy"))?,
        };
        // SAFETY: a function of the library, called as in metier.h; it takes nothing.
        let skill = unsafe { create() };
        if skill.is_null() {
            return Err(LoadError::NotCreated(path.to_owned()));
        }
        // Never freed: see the top of this file.
        let desk: &'static CallContext = Box::leak(Box::new(CallContext {
            thread: thread::current().id(),
            answering: Cell::new(ptr::null_mut()),
            kept: RefCell::default(),
        }));
        let host = Box::leak(Box::new(HostTable {
            context: ptr::from_ref(desk).cast_mut().cast(),
            ask,
        }));
        Ok(Self {
            functions,
            skill,
            host,
            desk,
        })
    }

    /// Calls the skill; `asked` answers its requests.
    pub(crate) fn answer(
        &mut self,
        request: &[u8],
        asked: &mut AskHost<'_>,
    ) -> Result<Result<Value, RpcError>, AbiError> {
        let mut asked = asked;
        let mut answer = Bytes::NONE;
        self.desk.answering.set(ptr::from_mut(&mut asked).cast());
        // SAFETY: a function of the library with the skill that it made, and the lent pointers outlive the call.
        let status = unsafe {
            (self.functions.answer)(self.skill, Bytes::of(request), self.host, &raw mut answer)
        };
        self.desk.answering.set(ptr::null_mut());
        self.desk.kept.take();
        if status != 0 {
            return Err(AbiError::Status(status));
        }
        let read = read(answer);
        // SAFETY: the library just returned it, it is released once, and no part of it is used any more.
        unsafe { (self.functions.release)(self.skill, answer) };
        read
    }
}

impl Drop for LoadedLibrary {
    fn drop(&mut self) {
        // SAFETY: the skill that the library made, and nothing calls it after this.
        unsafe { (self.functions.destroy)(self.skill) }
    }
}

type Entry = unsafe extern "C" fn() -> *const Table;

/// The function that returns the table. All symbols are bound at once, so that a missing one is reported now.
fn entry(path: &Path) -> Result<Entry, LoadError> {
    // SAFETY: its constructors run here; they may do what this process may do, which has nothing to lose.
    let library = unsafe { unix::Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| LoadError::NotLoaded {
        path: path.to_owned(),
        why: reason(&error, path),
    })?;
    // SAFETY: metier.h requires that a symbol with this name is such a function; it can't be checked.
    let entry = unsafe { library.get::<Entry>(ENTRY) };
    let entry = entry.map(|entry| *entry);
    // Never unloaded: its threads and its exit handlers would run unmapped code.
    std::mem::forget(library);
    entry.map_err(|_| LoadError::NoEntry(path.to_owned()))
}

/// The system's message, without the path, which is reported anyway.
fn reason(error: &dyn Error, path: &Path) -> String {
    let words = error.source().unwrap_or(error).to_string();
    let path = format!("{}: ", path.display());
    words.strip_prefix(&path).unwrap_or(&words).to_owned()
}

/// The table, after its header was checked.
fn table(path: &Path, entry: Entry) -> Result<Table, LoadError> {
    // SAFETY: the function of the library that returns its table; it takes nothing.
    let table = unsafe { entry() };
    if table.is_null() || !table.is_aligned() {
        return Err(LoadError::NoTable(path.to_owned()));
    }
    // SAFETY: not null and aligned; every version of a table begins with its head.
    let head = unsafe { table.cast::<TableHead>().read() };
    let path = || path.to_owned();
    if head.abi != ABI {
        let (path, built) = (path(), head.abi);
        return Err(LoadError::Abi { path, built });
    }
    if (head.size as usize) < size_of::<Table>() {
        return Err(LoadError::Short {
            path: path(),
            size: head.size,
            needed: size_of::<Table>(),
        });
    }
    // SAFETY: it declares this version, and is at least as long.
    Ok(unsafe { table.read() })
}

/// Reads an answer of the library before it is freed.
fn read(answer: Bytes) -> Result<Result<Value, RpcError>, AbiError> {
    if answer.length > MAX_FRAME {
        return Err(AbiError::TooLong(answer.length));
    }
    if answer.data.is_null() {
        return Err(AbiError::Nothing(answer.length));
    }
    // SAFETY: not null, of a sensible length, and the library's until it is released.
    let bytes = unsafe { slice::from_raw_parts(answer.data, answer.length) };
    Message::parse_answer(bytes).map_err(AbiError::Malformed)
}

/// The function that the library calls for requests. Any of its threads can call it at any time; only one gets an answer.
extern "C" fn ask(context: *mut c_void, question: Bytes) -> Bytes {
    if context.is_null() {
        return Bytes::of(NOT_NOW);
    }
    // SAFETY: the library passes its context, which is never freed; only the thread's name is read here,
    // which never changes.
    let thread = unsafe { (*context.cast::<CallContext>()).thread };
    if thread::current().id() != thread {
        return Bytes::of(NOT_NOW);
    }
    // SAFETY: as before, and this is the one thread that uses the rest of it.
    let desk = unsafe { &*context.cast::<CallContext>() };
    let answering = desk.answering.replace(ptr::null_mut());
    if answering.is_null() {
        return Bytes::of(NOT_NOW);
    }
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let fits = !question.data.is_null() && question.length <= MAX_FRAME;
        let bytes = match fits {
            // SAFETY: not null, of a sensible length, and the library's until this returns.
            true => unsafe { slice::from_raw_parts(question.data, question.length) },
            false => &[],
        };
        // SAFETY: set by `answer` to its own `&mut Ask`, which waits for this very call; taken out above, so there is no other.
        let asked = unsafe { &mut *answering.cast::<&mut AskHost<'_>>() };
        asked(bytes)
    }));
    desk.answering.set(answering);
    match (answered, desk.kept.try_borrow_mut()) {
        (Ok(answer), Ok(mut kept)) => {
            *kept = answer;
            Bytes::of(&kept)
        }
        _ => Bytes::of(BROKEN),
    }
}
