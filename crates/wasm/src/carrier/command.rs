//! Commands: programs with `_start` that use the wire protocol on their standard streams, like any process.
//!
//! A program that was written as a process works unchanged. Each call starts the program again: it is initialized, called once,
//! and shut down. There is no second thread that could feed it: it gets its lines when it reads
//! ([`CarrierPipes`]), and continues when its request is answered.

use serde_json::Value;
use wasmtime::{Engine, InstancePre, Linker, Module, Store};
use wasmtime_wasi::{
    I32Exit,
    p1::{WasiP1Ctx, add_to_linker_async},
    p2::pipe::{MemoryInputPipe, MemoryOutputPipe},
};

use super::{
    CarrierRequest,
    line::CarrierPipes,
    reactor::{First, link},
    stdio::{GuestStdin, GuestStdout},
};
use crate::{
    captured_output::OutputSink,
    clock::DeadlineClock,
    engine::refused,
    error::{WasmCallError, WasmLoadError},
    polling::drive,
    program::{Ask, Finished},
    question_slot::Asks,
    state::store,
    wasi_roots::WasiRoots,
};

pub(crate) const START: &str = "_start";
/// How much output is kept of a program without the protocol, in bytes.
const OUTPUT: usize = 1 << 20;

/// A command, ready to be instantiated.
pub(crate) struct LoadedCommand {
    instance: InstancePre<First>,
}

/// WASI preview 1, limited to the skill's [`WasiRoots`](crate::WasiRoots).
pub(super) fn linker(engine: &Engine) -> Result<Linker<First>, WasmLoadError> {
    let mut linker: Linker<First> = Linker::new(engine);
    add_to_linker_async(&mut linker, |state| &mut state.wasi).map_err(refused)?;
    Ok(linker)
}

impl LoadedCommand {
    pub(crate) fn new(engine: &Engine, module: &Module) -> Result<Self, WasmLoadError> {
        let instance = link(&linker(engine)?, module)?;
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
        let talk = CarrierPipes::new(request, mouth)?;
        let mut context = room.context()?;
        context
            .stdin(GuestStdin(talk.clone()))
            .stdout(GuestStdout(talk.clone()))
            .stderr(mouth.clone());
        let wasi = context.build_p1();
        let ended = self.start(engine, wasi, request, &talk, ask);
        // An answer is valid, whatever the exit status of the program is.
        match (talk.answer(), ended) {
            (Some(answer), _) => answer.map_err(WasmCallError::Answered),
            (None, Ok(code)) => Err(WasmCallError::Exited(code)),
            (None, Err(trouble)) => Err(trouble),
        }
    }

    /// Runs it as a program without the protocol, with this standard input.
    pub(crate) fn run(
        &self,
        engine: &'static Engine,
        room: &WasiRoots,
        request: &CarrierRequest<'_>,
        input: &[u8],
    ) -> Result<Finished, WasmCallError> {
        let input = MemoryInputPipe::new(input.to_vec());
        let (stdout, stderr) = (MemoryOutputPipe::new(OUTPUT), MemoryOutputPipe::new(OUTPUT));
        let mut context = room.context()?;
        context
            .stdin(input)
            .stdout(stdout.clone())
            .stderr(stderr.clone());
        let wasi = context.build_p1();
        let talk = CarrierPipes::new(request, &OutputSink::default())?;
        let code = self.start(engine, wasi, request, &talk, &mut |_, _| Ok(Value::Null))?;
        Ok(Finished {
            code,
            stdout: stdout.contents().to_vec(),
            stderr: stderr.contents().to_vec(),
        })
    }

    /// Runs it to its end and returns its exit code.
    fn start(
        &self,
        engine: &'static Engine,
        wasi: WasiP1Ctx,
        request: &CarrierRequest<'_>,
        asks: &dyn Asks,
        ask: &mut Ask<'_>,
    ) -> Result<i32, WasmCallError> {
        let mut store: Store<First> = store(engine, wasi, &request.limits, request.until)?;
        let work = async {
            let instance = self.instance.instantiate_async(&mut store).await?;
            let start = instance.get_typed_func::<(), ()>(&mut store, START)?;
            start.call_async(&mut store, ()).await
        };
        let ended = drive(work, DeadlineClock::get(engine)?, asks, ask, request.until);
        let refused_by = store.data().refused_by();
        match ended.map_err(|_| WasmCallError::TimedOut(request.limits.time))? {
            Ok(()) => Ok(0),
            Err(error) => match error.downcast_ref::<I32Exit>() {
                Some(I32Exit(code)) => Ok(*code),
                None => Err(request.trouble(&error, refused_by)),
            },
        }
    }
}
