//! Git, one function per command. Each sends one `host/git`; the host checks the permission.

use metier_sdk::wire::HostRequest;
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::Value;
use starlark::values::tuple::UnpackTuple;

use super::host::{Asking, ended};
use super::text;

#[starlark_module]
pub(super) fn functions(builder: &mut GlobalsBuilder) {
    fn git<'v>(
        #[starlark(args)] arguments: UnpackTuple<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        run("git", &[], &arguments.items, or_none, eval)
    }

    fn git_status<'v>(
        #[starlark(args)] arguments: UnpackTuple<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let words = ["status", "--porcelain"];
        run("git_status", &words, &arguments.items, or_none, eval)
    }

    fn git_diff<'v>(
        #[starlark(args)] arguments: UnpackTuple<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        run("git_diff", &["diff"], &arguments.items, or_none, eval)
    }

    fn git_log<'v>(
        #[starlark(args)] arguments: UnpackTuple<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        run("git_log", &["log"], &arguments.items, or_none, eval)
    }

    fn git_show<'v>(
        #[starlark(args)] arguments: UnpackTuple<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        run("git_show", &["show"], &arguments.items, or_none, eval)
    }

    fn git_add<'v>(
        #[starlark(args)] paths: UnpackTuple<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        run("git_add", &["add", "--"], &paths.items, or_none, eval)
    }

    fn git_commit<'v>(
        message: Value<'v>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        text("git_commit", "message", message)?;
        run("git_commit", &["commit", "-m"], &[message], or_none, eval)
    }
}

fn run<'v>(
    function: &'static str,
    words: &[&str],
    more: &[Value<'v>],
    or_none: Option<Value<'v>>,
    eval: &Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    let asking = Asking::new(function, or_none, eval)?;
    let mut arguments: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    for argument in more {
        arguments.push(text(function, "each argument", *argument)?.to_owned());
    }
    asking.answer(&HostRequest::Git { arguments }, ended)
}
