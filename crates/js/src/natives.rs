//! Functions in Rust for the modules in `compat/`: requests to the host, text, URLs, the clock.

use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use metier_sdk::wire::HostRequest;
use metier_sdk::worker::Unanswered;
use rquickjs::{Ctx, Exception, Function, Object, TypedArray, prelude::Opt};
use serde_json::{Value, json};
use url::Url;

use crate::json::whole;
use crate::modules;
use crate::state::EngineState;

/// The object with all functions.
pub(crate) fn native<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<EngineState>,
) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    modules::natives(ctx, state, &native)?;
    host(ctx, state, &native)?;
    text(ctx, &native)?;
    let parse = |text: String, base: Opt<String>| address(&text, base.0.as_deref());
    native.set("url", Function::new(ctx.clone(), parse)?)?;
    let change = |href: String, part: String, value: String| changed(&href, &part, &value);
    native.set("urlWith", Function::new(ctx.clone(), change)?)?;
    let random = || RandomState::new().hash_one(()) as u32;
    native.set("random", Function::new(ctx.clone(), random)?)?;
    Ok(native)
}

fn host<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<EngineState>,
    native: &Object<'js>,
) -> rquickjs::Result<()> {
    let own = Rc::clone(state);
    let ask = move |ctx: Ctx<'js>, method: String, params: String| ask(&own, &ctx, &method, params);
    native.set("ask", Function::new(ctx.clone(), ask)?)?;
    let own = Rc::clone(state);
    let log = move |level: String, message: String| own.log(&level, &message);
    native.set("log", Function::new(ctx.clone(), log)?)?;
    let own = Rc::clone(state);
    native.set("now", Function::new(ctx.clone(), move || own.now())?)?;
    let platform = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    native.set("platform", platform)?;
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "x86" => "ia32",
        other => other,
    };
    native.set("arch", arch)?;
    native.set("project", state.project.as_str())
}

/// Sends a request to the host. An error is an exception with the code of the wire protocol in `rpc`, and the reason's code in `reason`.
fn ask<'js>(
    state: &EngineState,
    ctx: &Ctx<'js>,
    method: &str,
    params: String,
) -> rquickjs::Result<String> {
    let params: Value = serde_json::from_str(&whole(params))
        .map_err(|error| Exception::throw_type(ctx, &format!("{method}: {error}")))?;
    let request: HostRequest =
        serde_json::from_value(json!({ "method": method, "params": params }))
            .map_err(|error| Exception::throw_type(ctx, &format!("{method}: {error}")))?;
    let error = match state.ask(&request) {
        Ok(answer) => return Ok(answer.to_string()),
        Err(Unanswered::Ended(why)) => return Err(Exception::throw_message(ctx, why)),
        Err(Unanswered::Refused(error) | Unanswered::Failed(error)) => error,
    };
    let exception = Exception::from_message(ctx.clone(), &error.message)?;
    let object = exception.as_object();
    object.set("rpc", error.code)?;
    let reason = error
        .data
        .as_ref()
        .and_then(|data| data.get("code"))
        .and_then(Value::as_str);
    object.set("reason", reason.unwrap_or_default())?;
    let data = error.data.unwrap_or_default();
    object.set("data", ctx.json_parse(data.to_string())?)?;
    Err(exception.throw())
}

fn text<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> rquickjs::Result<()> {
    let encode = |ctx: Ctx<'js>, text: String| TypedArray::<u8>::new(ctx, text.into_bytes());
    native.set("encode", Function::new(ctx.clone(), encode)?)?;
    let decode = |ctx: Ctx<'js>, bytes: Vec<u8>, fatal: bool| match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) if fatal => Err(Exception::throw_type(&ctx, "this is not UTF-8")),
        Err(error) => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    };
    native.set("decode", Function::new(ctx.clone(), decode)?)
}

/// The parts of a URL, in the order of `compat/url.js`.
type NativeParts = Vec<String>;

fn address(text: &str, base: Option<&str>) -> Option<NativeParts> {
    let url = match base {
        Some(base) => Url::parse(base).ok()?.join(text).ok()?,
        None => Url::parse(text).ok()?,
    };
    Some(parts(&url))
}

fn parts(url: &Url) -> NativeParts {
    use url::quirks;
    [
        quirks::href(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
        &quirks::origin(url),
    ]
    .map(str::to_owned)
    .into()
}

/// A URL with one part replaced; unchanged if the new part is invalid.
fn changed(href: &str, part: &str, value: &str) -> Option<NativeParts> {
    use url::quirks;
    let mut url = Url::parse(href).ok()?;
    // A setter ignores invalid values, as in the standard.
    let _kept = match part {
        "protocol" => quirks::set_protocol(&mut url, value),
        "username" => quirks::set_username(&mut url, value),
        "password" => quirks::set_password(&mut url, value),
        "host" => quirks::set_host(&mut url, value),
        "hostname" => quirks::set_hostname(&mut url, value),
        "port" => quirks::set_port(&mut url, value),
        "pathname" => {
            quirks::set_pathname(&mut url, value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, value);
            Ok(())
        }
        _ => {
            quirks::set_hash(&mut url, value);
            Ok(())
        }
    };
    Some(parts(&url))
}
