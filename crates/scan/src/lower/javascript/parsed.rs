//! Parsing with `oxc`.

mod bind;
mod call;
mod expr;
mod module;
mod nesting;
mod stmt;

#[cfg(test)]
mod tests;

use oxc_allocator::Allocator;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

use super::{ScriptDialect, salvage};
use crate::{
    form::{At, LoweredProgram},
    lower::{frame::LoweringFrame, stack::with_stack},
};

/// The stack for one nested sign: without optimisation 6 KiB were measured for the three of `({a:`.
const STACK_PER_SIGN: usize = if cfg!(debug_assertions) {
    6 * 1024
} else {
    2 * 1024
};
/// The maximum number of lines that are left out.
const MOST_LINES_LEFT_OUT: usize = 6;
/// `a<a<a<…` takes the parser of type arguments quadratic time.
const MOST_ANGLES: u32 = 64;

impl ScriptDialect {
    /// The source types to try, in order.
    fn readings(self) -> [SourceType; 4] {
        let module = SourceType::mjs().with_jsx(true);
        let script = SourceType::cjs().with_jsx(true);
        match self {
            Self::JavaScript => [module, script, SourceType::ts(), SourceType::tsx()],
            Self::TypeScript => [SourceType::ts(), SourceType::tsx(), module, script],
            Self::Tsx => [SourceType::tsx(), SourceType::ts(), module, script],
        }
    }
}

/// Lowers a JavaScript or TypeScript text.
#[must_use]
pub(in crate::lower) fn javascript(text: &str, dialect: ScriptDialect) -> LoweredProgram {
    let text = text.get(..u32::MAX as usize).unwrap_or(text);
    if nesting::is_tangled(text) {
        let mut program = salvage::salvage(text, 0);
        program.cut = true;
        return program;
    }
    let (signs, angles) = nesting::signs(text);
    let dialect = if angles > MOST_ANGLES {
        ScriptDialect::JavaScript
    } else {
        dialect
    };
    let needed = signs.saturating_mul(STACK_PER_SIGN);
    with_stack(needed, text, |text| {
        read(text, dialect, angles > MOST_ANGLES)
    })
    .unwrap_or_else(|| {
        let mut program = salvage::salvage(text, 0);
        program.cut = true;
        program
    })
}

/// Parses as much of a text as possible.
fn read(text: &str, dialect: ScriptDialect, untyped: bool) -> LoweredProgram {
    let mut rest = None;
    let mut first = None;
    for _ in 0..=MOST_LINES_LEFT_OUT {
        let here = rest.as_deref().unwrap_or(text);
        match best(here, dialect, untyped) {
            Ok(mut program) => {
                program.broken = program.broken.into_iter().chain(first).min();
                return program;
            }
            Err(at) => {
                first = Some(first.map_or(at, |first: At| first.min(at)));
                match without_line(here, at) {
                    Some(shorter) => rest = Some(shorter),
                    None => break,
                }
            }
        }
    }
    salvage::salvage(text, first.unwrap_or_default())
}

/// The first reading without errors, or otherwise the first with a result; the position of the error if there is none.
fn best(text: &str, dialect: ScriptDialect, untyped: bool) -> Result<LoweredProgram, At> {
    let mut best = None;
    let mut failure = None;
    for source_type in dialect.readings() {
        if untyped && source_type.is_typescript() {
            continue;
        }
        match parse(text, source_type) {
            Ok(program) if program.broken.is_none() => return Ok(program),
            Ok(program) => best = best.or(Some(program)),
            Err(at) => failure = failure.max(Some(at)),
        }
    }
    best.ok_or(failure.unwrap_or_default())
}

fn parse(text: &str, source_type: SourceType) -> Result<LoweredProgram, At> {
    let allocator = Allocator::default();
    let options = ParseOptions {
        allow_return_outside_function: true,
        preserve_parens: false,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(&allocator, text, source_type)
        .with_options(options)
        .parse();
    let error = parsed
        .diagnostics
        .errors()
        .map(|error| {
            error
                .labels
                .iter()
                .map(|label| label.offset())
                .min()
                .unwrap_or_default()
        })
        .min();
    if parsed.panicked {
        return Err(error.unwrap_or_default());
    }
    let mut js = JavaScript {
        frame: LoweringFrame::new(),
    };
    if let Some(at) = error {
        js.frame.leave_out(at);
    }
    js.program(&parsed.program);
    Ok(LoweredProgram {
        body: std::mem::take(&mut js.frame.out),
        broken: js.frame.broken,
        ..LoweredProgram::default()
    })
}

/// The text with the line around `at` replaced by spaces, so that offsets do not change; `None` if nothing would change.
fn without_line(text: &str, at: At) -> Option<String> {
    let at = (at as usize).min(text.len());
    let bytes = text.as_bytes();
    let start = memchr::memrchr(b'\n', bytes.get(..at)?).map_or(0, |before| before + 1);
    let end = memchr::memchr(b'\n', bytes.get(at..)?).map_or(text.len(), |after| at + after);
    let line = text.get(start..end)?;
    if line.trim().is_empty() {
        return None;
    }
    let mut shorter = String::with_capacity(text.len());
    shorter.push_str(text.get(..start)?);
    shorter.extend(std::iter::repeat_n(' ', end - start));
    shorter.push_str(text.get(end..)?);
    Some(shorter)
}

/// The lowering of one text.
struct JavaScript {
    frame: LoweringFrame,
}
