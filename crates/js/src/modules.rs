//! Modules: the results of `import` and `require`.
//!
//! The engine loads ES modules. Everything else, CommonJS files, modules of `compat/` and JSON, is loaded by `compat/boot.js`, which
//! caches it; an ES module that imports it gets a generated module with the same exports.

use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::{Ctx, Error, Exception, Function, Module, Object, Value, module::Declared};

use crate::state::EngineState;
use crate::strip::SourceDialect;

/// The resolver and the loader of the engine.
#[derive(Clone)]
pub(crate) struct Modules(pub(crate) Rc<EngineState>);

impl Resolver for Modules {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        resolve(&self.0, ctx, base, name)
    }
}

impl Loader for Modules {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        let state = &self.0;
        if !name.ends_with(".json") {
            let compiled = state.compiled(name);
            let compiled =
                compiled.map_err(|error| Exception::throw_syntax(ctx, &error.to_string()))?;
            if let Some(module) = compiled.filter(|module| module.kind == SourceDialect::Module) {
                let declared = Module::declare(ctx.clone(), name, module.code.as_str())?;
                let meta = declared.meta()?;
                let path = state.path(name);
                meta.set("url", format!("file://{path}"))?;
                meta.set("dirname", folder(&path))?;
                meta.set("filename", path)?;
                return Ok(declared);
            }
        }
        let load = state.load.borrow().clone();
        let load = load.ok_or(Error::Unknown)?.restore(ctx)?;
        let exports: Value = load.call((name,))?;
        stand_in(ctx, name, &exports)
    }
}

/// The module that an import specifier means in a file, or an exception with the reason.
pub(crate) fn resolve(
    state: &EngineState,
    ctx: &Ctx<'_>,
    base: &str,
    word: &str,
) -> rquickjs::Result<String> {
    state.resolve(base, word).map_err(|error| {
        let place = if base.is_empty() {
            String::new()
        } else {
            format!("{base}: ")
        };
        Exception::throw_message(ctx, &format!("{place}{error}"))
    })
}

/// An ES module with the exports of another kind of module.
fn stand_in<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    exports: &Value<'js>,
) -> rquickjs::Result<Module<'js, Declared>> {
    let mut code = "const all=import.meta.exports;export default all;".to_owned();
    if let Some(object) = exports.as_object() {
        let keys = object.keys::<String>().flatten();
        for (number, key) in keys.filter(|key| is_name(key)).enumerate() {
            code += &format!("const $m{number}=all.{key};export{{$m{number} as {key}}};");
        }
    }
    let declared = Module::declare(ctx.clone(), name, code)?;
    declared.meta()?.set("exports", exports.clone())?;
    Ok(declared)
}

fn is_name(key: &str) -> bool {
    let mut letters = key.chars();
    let first = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, '_' | '$'));
    key != "default"
        && first
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
}

/// The functions with which `compat/boot.js` loads modules.
pub(crate) fn natives<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<EngineState>,
    native: &Object<'js>,
) -> rquickjs::Result<()> {
    let own = Rc::clone(state);
    let find = move |ctx: Ctx<'js>, base: String, word: String| resolve(&own, &ctx, &base, &word);
    native.set("resolve", Function::new(ctx.clone(), find)?)?;
    let own = Rc::clone(state);
    let path = move |name: String| own.path(&name);
    native.set("path", Function::new(ctx.clone(), path)?)?;
    let own = Rc::clone(state);
    let run = move |ctx: Ctx<'js>, name: String| prepare(&own, &ctx, &name);
    native.set("prepare", Function::new(ctx.clone(), run)?)?;
    // The file of the caller, two calls up: after boot's getter.
    let caller = move |ctx: Ctx<'js>| -> rquickjs::Result<Option<String>> {
        let atom = ctx.script_or_module_name(2);
        atom.map(|atom| atom.to_string()).transpose()
    };
    native.set("caller", Function::new(ctx.clone(), caller)?)
}

/// A CommonJS module as a function, or the exports of another kind of module.
fn prepare<'js>(state: &EngineState, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Object<'js>> {
    let answer = Object::new(ctx.clone())?;
    if name.ends_with(".json") {
        let text = state.text(name).unwrap_or_default();
        let parsed = ctx.json_parse(text);
        let parsed = parsed.map_err(|_| {
            ctx.catch();
            Exception::throw_syntax(ctx, &format!("{name} is not valid JSON"))
        })?;
        answer.set("exports", parsed)?;
        return Ok(answer);
    }
    let compiled = state.compiled(name);
    let compiled = compiled.map_err(|error| Exception::throw_syntax(ctx, &error.to_string()))?;
    let Some(compiled) = compiled else {
        return Err(Exception::throw_message(
            ctx,
            &format!("there is no module `{name}`"),
        ));
    };
    if compiled.kind == SourceDialect::Module {
        let word = match state.text(name) {
            Some(_) => format!("./{name}"),
            None => name.to_owned(),
        };
        let loaded = Module::import(ctx, word)?.finish::<Object>();
        let exports = match loaded {
            Err(Error::WouldBlock) => {
                let message =
                    format!("{name} uses top-level await, so it can't be required; import it");
                return Err(Exception::throw_message(ctx, &message));
            }
            loaded => loaded?,
        };
        answer.set("exports", exports)?;
        return Ok(answer);
    }
    // On the first line, so that line numbers stay those of the author.
    let code = match compiled.code.strip_prefix("#!") {
        Some(rest) => format!("//{rest}"),
        None => compiled.code.clone(),
    };
    let code = format!("(function(exports,require,module,__filename,__dirname){{{code}\n}})");
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name.to_owned());
    let function: Function = ctx.eval_with_options(code, options)?;
    answer.set("run", function)?;
    Ok(answer)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
