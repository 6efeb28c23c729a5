//! Variables that a name selects, and functions that are passed to other functions.

use super::{Fold, FunctionRole, KnownCall, role};
use crate::flow::{EvaluatedLanguage, SourceKind, eval::Evaluator, value::FlowValue};
use crate::form::{CallExpr, Expr};

/// The variable that a name selects. A name that is only known at run time selects one variable, and not all of them.
pub(super) fn variable(this: &mut Evaluator<'_>, called: &KnownCall<'_>) -> FlowValue {
    let name = called.first();
    let items = name.items.iter().flatten().flat_map(|item| &item.texts);
    let texts: Vec<String> = name.texts.iter().chain(items).cloned().collect();
    let mut value = FlowValue::default();
    for text in &texts {
        value.absorb(&this.variable(text, called.at()));
        if matches!(text.as_str(), "HOME" | "USERPROFILE") {
            value.texts = vec!["~".to_owned()];
        }
    }
    // `for name in os.environ: os.environ[name]`
    value.absorb(&name);
    if texts.is_empty() && value.taints.is_empty() {
        value.taint(SourceKind::Variable, "\0", this.site(called.at()));
    }
    value.made_by = texts.first().map(|name| name.as_str().into());
    value
}

/// A function that is passed to another one, which calls it: `Thread(target=os.system, args=(line,))`, `map(os.system, lines)`.
pub(super) fn applied(
    this: &mut Evaluator<'_>,
    called: &KnownCall<'_>,
    given: FlowValue,
) -> FlowValue {
    let names = called.call.args.iter().position(|arg| match &arg.value {
        Expr::Name(name, _) => {
            role(this.language, name).is_some_and(|role| match role {
                FunctionRole::Apply => false,
                FunctionRole::Fold(fold) => fold == Fold::Chars,
                _ => true,
            }) || this.is_own_function(name)
        }
        _ => false,
    });
    let Some(position) = names else {
        return given;
    };
    let Expr::Name(name, _) = &called.call.args[position].value else {
        return given;
    };
    let mut words = Vec::new();
    // `list.map(f)`, `promise.then(f)`; `map(f, list)`.
    let each = |value: &FlowValue| {
        let mut whole = value.clone();
        for item in whole.items.take().into_iter().flatten() {
            whole.join(item);
        }
        whole
    };
    let method = called.callee.rsplit('.').next().unwrap_or_default();
    let maps = matches!(
        method,
        "then" | "map" | "forEach" | "filter" | "reduce" | "some" | "every" | "find" | "starmap"
    );
    let receiver = called
        .on
        .filter(|_| maps && this.language == EvaluatedLanguage::JavaScript);
    words.extend(receiver.map(|on| (None, each(on))));
    let rest = called
        .args
        .iter()
        .skip(position + 1)
        .map(|(keyword, value)| (*keyword, value));
    for (keyword, value) in rest {
        match &value.items {
            Some(_) if maps => words.push((None, each(value))),
            // `args=(…)`, and each mapped item.
            Some(items) => words.extend(items.iter().map(|item| (None, item.clone()))),
            None => words.push((
                keyword.filter(|word| !matches!(*word, "args" | "kwargs")),
                value.clone(),
            )),
        }
    }
    this.call_named(name, called.call, &words).unwrap_or(given)
}

/// Whether a character code is the result of an operation on others: `chr(c ^ key)`.
pub(super) fn is_arithmetic(call: &CallExpr) -> bool {
    let is_operation = |value: &Expr| matches!(value, Expr::Parts(parts) if parts.len() > 1);
    let one = ["chr", "fromCharCode", "fromCodePoint"]
        .iter()
        .any(|name| call.callee.ends_with(name));
    // `bytes(c ^ key for c in data)`; `bytes(head + tail)` is not an operation on codes.
    let each = |value: &Expr| match value {
        Expr::Parts(parts) => parts.first().is_some_and(is_operation) && parts.len() == 1,
        _ => false,
    };
    call.args
        .iter()
        .any(|arg| each(&arg.value) || one && is_operation(&arg.value))
}
