//! Reactors: core modules that are called. The smallest form of a skill, for any language that can export three functions.
//!
//! ```text
//! memory                                   exported
//! metier_alloc(len: i32) -> i32            memory for `len` bytes, which the host fills
//! metier_answer(ptr: i32, len: i32) -> i64 {"about":…,"method":…,"params":…} → {"result":…} or {"error":…}
//! metier.ask(ptr: i32, len: i32) -> i64    imported: {"method":"host/…","params":…} → the same
//! ```
//!
//! A returned string is `ptr << 32 | len`.

use metier_sdk::wire::{MAX_FRAME, RpcError, code, envelope::Body};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wasmtime::{
    AsContext, AsContextMut, Caller, Engine, Extern, ExternType, FuncType, Instance, InstancePre,
    Linker, Memory, Module, TypedFunc, UnknownImportError, ValType,
};
use wasmtime_wasi::p1::WasiP1Ctx;

use super::{CarrierRequest, decode, too_long};
use crate::{
    captured_output::OutputSink,
    clock::DeadlineClock,
    error::{GuestFailure, WasmCallError, WasmLoadError, shown},
    polling::drive,
    program::Ask,
    question_slot::QuestionReply,
    state::{InstanceState, store},
    wasi_roots::WasiRoots,
};

pub(crate) const MEMORY: &str = "memory";
pub(crate) const ALLOC: &str = "metier_alloc";
pub(crate) const ANSWER: &str = "metier_answer";
/// The modules with available functions; the linker has the functions.
const MODULES: &[&str] = &["metier", "wasi_snapshot_preview1"];
/// A function that is called first, if it exists.
const INITIALIZE: &str = "_initialize";

pub(super) type First = InstanceState<WasiP1Ctx>;

/// A reactor, ready to be instantiated.
pub(crate) struct LoadedReactor {
    instance: InstancePre<First>,
}

#[derive(Serialize)]
struct Incoming<'a> {
    about: &'a Value,
    method: &'a str,
    params: &'a Value,
}

#[derive(Deserialize)]
struct Asked {
    method: String,
    #[serde(default)]
    params: Value,
}

impl LoadedReactor {
    pub(crate) fn new(engine: &Engine, module: &Module) -> Result<Self, WasmLoadError> {
        let mut linker = super::command::linker(engine)?;
        linker
            .func_wrap_async("metier", "ask", |caller, (ptr, len): (i32, i32)| {
                Box::new(ask(caller, ptr, len))
            })
            .map_err(crate::engine::refused)?;
        let instance = link(&linker, module)?;
        check_exports(module)?;
        Ok(Self { instance })
    }

    pub(crate) fn call(
        &self,
        engine: &'static Engine,
        room: &WasiRoots,
        request: &CarrierRequest<'_>,
        ask: &mut Ask<'_>,
        mouth: &OutputSink,
    ) -> Result<Value, WasmCallError> {
        let incoming = serde_json::to_vec(&Incoming {
            about: request.about,
            method: request.method,
            params: request.params,
        });
        let incoming = incoming.map_err(|error| WasmCallError::Protocol(error.to_string()))?;
        if incoming.len() > MAX_FRAME {
            return Err(WasmCallError::Answered(too_long(
                "the request",
                incoming.len(),
            )));
        }
        let mut context = room.context()?;
        context.stdout(mouth.clone()).stderr(mouth.clone());
        let wasi = context.build_p1();
        let mut store = store(engine, wasi, &request.limits, request.until)?;
        let counter = store.data().counter.clone();
        let work = async {
            let instance = self.instance.instantiate_async(&mut store).await?;
            if let Ok(first) = instance.get_typed_func::<(), ()>(&mut store, INITIALIZE) {
                first.call_async(&mut store, ()).await?;
            }
            let exports = Exports::of_instance(&instance, &mut store)?;
            let (ptr, len) = exports.place(&mut store, &incoming).await?;
            let answer = instance.get_typed_func::<(i32, i32), i64>(&mut store, ANSWER)?;
            let packed = answer.call_async(&mut store, (ptr, len)).await?;
            exports.read(&store, packed.cast_unsigned(), "the answer")
        };
        let answered = drive(
            work,
            DeadlineClock::get(engine)?,
            &counter,
            ask,
            request.until,
        );
        let refused_by = store.data().refused_by();
        let bytes = answered
            .map_err(|_| WasmCallError::TimedOut(request.limits.time))?
            .map_err(|error| request.trouble(&error, refused_by))?;
        decode(&bytes)
    }
}

/// Refuses modules without the required exports.
fn check_exports(module: &Module) -> Result<(), WasmLoadError> {
    let missing = |what: &str| {
        let why = format!("exports `{ANSWER}`, but no {what} (docs/wasm.md)");
        Err(WasmLoadError::Carrier(why))
    };
    match module.get_export(MEMORY) {
        Some(ExternType::Memory(memory)) if !memory.is_64() => {}
        _ => return missing("`memory` with addresses of 32 bits"),
    }
    for (name, written) in [(ALLOC, "(i32) -> (i32)"), (ANSWER, "(i32, i32) -> (i64)")] {
        let found = module.get_export(name);
        let found = found.as_ref().and_then(ExternType::func);
        if found.is_none_or(|found| signature(found) != written) {
            return missing(&format!("function `{name}: {written}`"));
        }
    }
    Ok(())
}

fn signature(function: &FuncType) -> String {
    let list = |types: &mut dyn Iterator<Item = ValType>| {
        let types: Vec<String> = types.map(|kind| kind.to_string()).collect();
        types.join(", ")
    };
    let parameters = list(&mut function.params());
    format!("({parameters}) -> ({})", list(&mut function.results()))
}

/// Resolves a module's imports, or returns those that are not available.
pub(super) fn link(
    linker: &Linker<First>,
    module: &Module,
) -> Result<InstancePre<First>, WasmLoadError> {
    let name = |module: &str, name: &str| format!("{module}.{name}");
    let strange = module
        .imports()
        .filter(|import| !MODULES.contains(&import.module()));
    let strange: Vec<String> = strange
        .map(|import| name(import.module(), import.name()))
        .collect();
    if !strange.is_empty() {
        return Err(WasmLoadError::Imports(strange));
    }
    linker.instantiate_pre(module).map_err(|error| {
        match error.downcast_ref::<UnknownImportError>() {
            Some(unknown) => WasmLoadError::Imports(vec![name(unknown.module(), unknown.name())]),
            None => crate::engine::refused(error),
        }
    })
}

/// The exports of an instance that the host uses.
#[derive(Clone)]
struct Exports {
    memory: Memory,
    alloc: TypedFunc<i32, i32>,
}

impl Exports {
    fn of_instance(
        instance: &Instance,
        mut store: impl AsContextMut<Data = First>,
    ) -> wasmtime::Result<Self> {
        let memory = instance.get_memory(&mut store, MEMORY);
        let memory = memory.ok_or_else(|| broke("`memory` is not a memory"))?;
        let alloc = instance.get_typed_func(&mut store, ALLOC)?;
        Ok(Self { memory, alloc })
    }

    fn of_caller(caller: &mut Caller<'_, First>) -> wasmtime::Result<Self> {
        let memory = caller.get_export(MEMORY).and_then(Extern::into_memory);
        let memory = memory.ok_or_else(|| broke("`memory` is not a memory"))?;
        let alloc = caller.get_export(ALLOC).and_then(Extern::into_func);
        let alloc = alloc.ok_or_else(|| broke("`metier_alloc` is not a function"))?;
        let alloc = alloc.typed(&mut *caller)?;
        Ok(Self { memory, alloc })
    }

    /// Writes bytes to memory that the guest allocates.
    async fn place(
        &self,
        mut store: impl AsContextMut<Data = First>,
        bytes: &[u8],
    ) -> wasmtime::Result<(i32, i32)> {
        let len = i32::try_from(bytes.len())?;
        store.as_context_mut().data_mut().placing = true;
        let ptr = self.alloc.call_async(&mut store, len).await;
        store.as_context_mut().data_mut().placing = false;
        let ptr = ptr?;
        let start = ptr.cast_unsigned() as usize;
        self.memory.write(&mut store, start, bytes).map_err(|_| {
            broke(format!(
                "`{ALLOC}({len})` returned {start}, but {len} bytes don't fit into the memory there"
            ))
        })?;
        Ok((ptr, len))
    }

    /// Reads bytes from an address that the guest returned.
    fn read(
        &self,
        store: impl AsContext<Data = First>,
        packed: u64,
        what: &str,
    ) -> wasmtime::Result<Vec<u8>> {
        let (start, len) = (packed >> 32, packed & u64::from(u32::MAX));
        let (start, len) = (usize::try_from(start)?, usize::try_from(len)?);
        if len > MAX_FRAME {
            return Err(broke(format!(
                "{what} is {len} bytes; the limit for a message is {MAX_FRAME}"
            )));
        }
        let end = start.saturating_add(len);
        let bytes = self.memory.data(&store).get(start..end);
        let bytes = bytes.ok_or_else(|| {
            broke(format!(
                "{what} is at {start} and is {len} bytes long, but the memory ends before that"
            ))
        })?;
        Ok(bytes.to_vec())
    }
}

/// `metier.ask`.
async fn ask(mut caller: Caller<'_, First>, ptr: i32, len: i32) -> wasmtime::Result<i64> {
    if caller.data().placing {
        return Err(broke(format!("`{ALLOC}` must not ask the host")));
    }
    let exports = Exports::of_caller(&mut caller)?;
    let bytes = exports.read(&caller, pack(ptr, len), "its question")?;
    let reply = match serde_json::from_slice::<Asked>(&bytes) {
        Ok(asked) => {
            let counter = caller.data().counter.clone();
            counter.ask(asked.method, asked.params).await
        }
        Err(error) => {
            let message = format!("this is not a request: {}", shown(&error.to_string()));
            Err(RpcError::new(code::PARSE, message))
        }
    };
    let (ptr, len) = exports.place(&mut caller, &envelope(&reply)?).await?;
    Ok(pack(ptr, len).cast_signed())
}

fn envelope(reply: &QuestionReply) -> wasmtime::Result<Vec<u8>> {
    let bytes = serde_json::to_vec(&Body::from(reply))?;
    if bytes.len() <= MAX_FRAME {
        return Ok(bytes);
    }
    let error = &too_long("the answer", bytes.len());
    Ok(serde_json::to_vec(&Body::Error { error })?)
}

fn pack(ptr: i32, len: i32) -> u64 {
    u64::from(ptr.cast_unsigned()) << 32 | u64::from(len.cast_unsigned())
}

fn broke(why: impl Into<String>) -> wasmtime::Error {
    GuestFailure(why.into()).into()
}
