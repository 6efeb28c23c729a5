//! Components of the world `metier:skill/skill`: they export `answer`, and can import `host` and the harmless part of WASI.

use metier_sdk::wire::{MAX_FRAME, RpcError, code};
use serde_json::Value;
use wasmtime::{
    Engine, StoreContextMut,
    component::{
        Component, ComponentExportIndex, ComponentType, InstancePre, Lift, Linker, Lower, Type,
        types::ComponentItem,
    },
};
use wasmtime_wasi::{
    ResourceTable, WasiView,
    cli::{WasiCli, WasiCliView},
    filesystem::{WasiFilesystem, WasiFilesystemView},
    p2::{
        add_to_linker_proxy_interfaces_async,
        bindings::{cli, filesystem, random},
    },
    random::WasiRandom,
};

use super::{CarrierRequest, encode, malformed_answer, too_long};
use crate::{
    captured_output::OutputSink,
    clock::DeadlineClock,
    engine::refused,
    error::{WasmCallError, WasmLoadError, shown},
    polling::drive,
    program::Ask,
    state::{InstanceState, Second, store},
    wasi_roots::WasiRoots,
};

/// The interface that the host provides.
const HOST: &str = "metier:skill/host@0.1.0";
/// The function that skills export.
const ANSWER: &str = "answer";
/// The available parts of WASI.
const OFFERED: &[&str] = &[
    "metier:skill/host@",
    "wasi:cli/",
    "wasi:clocks/",
    "wasi:filesystem/",
    "wasi:io/",
    "wasi:random/",
];
/// Toolchains import this even if it is unused: it can be imported, but a call traps.
const EMPTY: &str = "wasi:sockets/";

type Instance = InstanceState<Second>;

/// The record `problem` of the world.
#[derive(Clone, Debug, ComponentType, Lift, Lower)]
#[component(record)]
struct ComponentProblem {
    code: i32,
    message: String,
    data: Option<String>,
}

type Params<'a> = (&'a str, &'a str, &'a str);
type Results = (Result<String, ComponentProblem>,);

/// A component, ready to be instantiated.
pub(crate) struct LoadedComponent {
    instance: InstancePre<Instance>,
    answer: ComponentExportIndex,
}

impl LoadedComponent {
    pub(crate) fn new(engine: &Engine, component: &Component) -> Result<Self, WasmLoadError> {
        check_imports(engine, component)?;
        let mut linker = Linker::new(engine);
        offer(&mut linker).map_err(refused)?;
        linker
            .define_unknown_imports_as_traps(component)
            .map_err(refused)?;
        let missing = || {
            let why = "does not export a function `answer` with the type of the world `metier:skill/skill` (docs/wasm.md)";
            WasmLoadError::Carrier(why.into())
        };
        let answer = component
            .get_export_index(None, ANSWER)
            .filter(|_| answers(engine, component))
            .ok_or_else(missing)?;
        let instance = linker.instantiate_pre(component).map_err(refused)?;
        Ok(Self { instance, answer })
    }

    pub(crate) fn call(
        &self,
        engine: &'static Engine,
        room: &WasiRoots,
        request: &CarrierRequest<'_>,
        ask: &mut Ask<'_>,
        mouth: &OutputSink,
    ) -> Result<Value, WasmCallError> {
        let (about, params) = (encode(request.about)?, encode(request.params)?);
        let mut context = room.context()?;
        context.stdout(mouth.clone()).stderr(mouth.clone());
        let wasi = Second {
            context: context.build(),
            table: ResourceTable::new(),
        };
        let mut store = store(engine, wasi, &request.limits, request.until)?;
        let counter = store.data().counter.clone();
        let work = async {
            let instance = self.instance.instantiate_async(&mut store).await?;
            let answer = instance.get_typed_func::<Params<'_>, Results>(&mut store, self.answer)?;
            let given = (&*about, request.method, &*params);
            answer.call_async(&mut store, given).await
        };
        let answered = drive(
            work,
            DeadlineClock::get(engine)?,
            &counter,
            ask,
            request.until,
        );
        let refused_by = store.data().refused_by();
        let (answered,) = answered
            .map_err(|_| WasmCallError::TimedOut(request.limits.time))?
            .map_err(|error| request.trouble(&error, refused_by))?;
        match answered {
            Ok(text) => json(&text).map_err(|why| malformed_answer(&why)),
            Err(problem) => Err(WasmCallError::Answered(problem.into())),
        }
    }
}

/// Whether its function takes three strings and returns a result. The types inside the result are checked by the call.
fn answers(engine: &Engine, component: &Component) -> bool {
    let kind = component.component_type();
    let Some(export) = kind.get_export(engine, ANSWER) else {
        return false;
    };
    let ComponentItem::ComponentFunc(function) = export.ty else {
        return false;
    };
    let texts = function.params().filter(|(_, kind)| *kind == Type::String);
    let (texts, params) = (texts.count(), function.params().len());
    let results: Vec<Type> = function.results().collect();
    texts == 3 && params == 3 && matches!(results.as_slice(), [Type::Result(_)])
}

/// Refuses components with imports that are not available.
fn check_imports(engine: &Engine, component: &Component) -> Result<(), WasmLoadError> {
    let kind = component.component_type();
    let unknown = kind.imports(engine).filter(|(name, item)| {
        let known = OFFERED.iter().chain([&EMPTY]);
        let is_type = matches!(item.ty, ComponentItem::Type(_));
        !is_type && !known.into_iter().any(|known| name.starts_with(known))
    });
    let unknown: Vec<String> = unknown.map(|(name, _)| name.to_owned()).collect();
    match unknown.is_empty() {
        true => Ok(()),
        false => Err(WasmLoadError::Imports(unknown)),
    }
}

/// All available imports: the host, and WASI, limited to the skill's [`WasiRoots`](crate::WasiRoots).
fn offer(linker: &mut Linker<Instance>) -> wasmtime::Result<()> {
    type T = Instance;
    let l = linker;
    // Streams, clocks, randomness and the standard streams.
    add_to_linker_proxy_interfaces_async(l)?;
    filesystem::preopens::add_to_linker::<T, WasiFilesystem>(l, T::filesystem)?;
    filesystem::types::add_to_linker::<T, WasiFilesystem>(l, T::filesystem)?;
    random::insecure::add_to_linker::<T, WasiRandom>(l, |t| t.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<T, WasiRandom>(l, |t| t.ctx().ctx.random())?;
    cli::exit::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::environment::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_input::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_output::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_stdin::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_stdout::add_to_linker::<T, WasiCli>(l, T::cli)?;
    cli::terminal_stderr::add_to_linker::<T, WasiCli>(l, T::cli)?;
    l.instance(HOST)?.func_wrap_async("ask", ask)
}

/// `ask` of the interface `host`.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the linker passes it by value"
)]
fn ask(
    store: StoreContextMut<'_, Instance>,
    (method, params): (String, String),
) -> Box<dyn Future<Output = wasmtime::Result<Results>> + Send + '_> {
    let counter = store.data().counter.clone();
    Box::new(async move {
        if params.len() > MAX_FRAME {
            return Ok((Err(too_long("the question", params.len()).into()),));
        }
        let params = match json(&params) {
            Ok(params) => params,
            Err(why) => return Ok((Err(wrong(&method, &why).into()),)),
        };
        let reply = counter.ask(method, params).await;
        Ok((reply
            .map(|value| value.to_string())
            .map_err(ComponentProblem::from),))
    })
}

fn wrong(method: &str, why: &str) -> RpcError {
    let message = format!("`{}`: the parameters are not JSON: {why}", shown(method));
    RpcError::new(code::PARSE, message)
}

fn json(text: &str) -> Result<Value, String> {
    if text.len() > MAX_FRAME {
        return Err(format!("it is {} bytes, more than {MAX_FRAME}", text.len()));
    }
    serde_json::from_str(text).map_err(|error| shown(&error.to_string()))
}

impl From<RpcError> for ComponentProblem {
    fn from(error: RpcError) -> Self {
        Self {
            code: error.code,
            message: error.message,
            data: error.data.map(|data| data.to_string()),
        }
    }
}

impl From<ComponentProblem> for RpcError {
    fn from(problem: ComponentProblem) -> Self {
        // Data that is not JSON becomes a string.
        let data = problem
            .data
            .map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
        Self {
            code: problem.code,
            message: problem.message,
            data,
        }
    }
}
