//! TypeScript → JavaScript, and the module kind of a file: the only file that uses oxc.
//!
//! JavaScript is only parsed, to distinguish modules from CommonJS and to report errors; its text stays unchanged. TypeScript loses its
//! types, and enums, namespaces and parameter properties become code. That moves lines. A source map would cost
//! time for each file and is seldom needed, so there is none: when an error needs its position,
//! [`origin`] compiles the file again and compares the nodes of both texts.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::{
    AstKind,
    ast::{Program, Statement},
};
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan, SourceType};
use oxc_transformer::{Module, TransformOptions, Transformer};

/// The module kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceDialect {
    /// With `import` and `export`.
    Module,
    /// With `require` and `module.exports`, or without imports and exports.
    Common,
}

/// A file that the engine can run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StrippedSource {
    pub(crate) code: String,
    pub(crate) kind: SourceDialect,
}

/// A position; line and column are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourcePosition {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A file that can't be parsed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {message}", at.line, at.column)]
pub(crate) struct SyntaxTrouble {
    file: String,
    at: SourcePosition,
    message: String,
}

/// Compiles a file.
pub(crate) fn compile(file: &str, text: &str) -> Result<StrippedSource, SyntaxTrouble> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, text, source_type(file));
    let wrong = |offset: usize, message: String| SyntaxTrouble {
        file: file.to_owned(),
        at: position(text, offset),
        message,
    };
    let first = parsed.diagnostics.errors().next();
    if let Some(error) = first {
        let offset = error
            .labels
            .iter()
            .map(|label| label.offset() as usize)
            .min();
        return Err(wrong(offset.unwrap_or_default(), error.message.to_string()));
    }
    let kind = kind(file, &parsed).map_err(|(at, message)| wrong(at, message.to_owned()))?;
    if !parsed.program.source_type.is_typescript() {
        let code = text.to_owned();
        return Ok(StrippedSource { code, kind });
    }
    let mut program = parsed.program;
    let stripped = strip(&allocator, file, kind, &mut program);
    stripped.map_err(|(at, message)| wrong(at, message))?;
    let code = print(&program);
    Ok(StrippedSource { code, kind })
}

/// The author's position for a position in the output of [`compile`]; `None` if it is unknown.
pub(crate) fn origin(file: &str, text: &str, at: SourcePosition) -> Option<SourcePosition> {
    if !source_type(file).is_typescript() {
        return Some(at);
    }
    let allocator = Allocator::default();
    let parsed = parse(&allocator, text, source_type(file));
    let kind = kind(file, &parsed).ok()?;
    let mut program = parsed.program;
    strip(&allocator, file, kind, &mut program).ok()?;
    let code = print(&program);
    let printed = parse(&allocator, &code, SourceType::mjs());
    let (before, after) = (nodes(&program), nodes(&printed.program));
    let target = offset(&code, at)?;
    // The last node that starts at or before the position, in both texts. They must have the same nodes in the same order,
    // or the position is unknown.
    if before.len() != after.len() {
        return None;
    }
    let found = after.iter().zip(&before).filter(|(new, old)| {
        // Generated nodes have no position in the author's file.
        new.0 == old.0 && new.1 <= target && (old.1 > 0 || new.1 == 0)
    });
    let (_, old) = found.max_by_key(|(new, _)| new.1)?;
    Some(position(text, old.1))
}

fn parse<'a>(allocator: &'a Allocator, text: &'a str, source: SourceType) -> ParserReturn<'a> {
    let options = ParseOptions {
        allow_return_outside_function: source.is_commonjs() || source.is_unambiguous(),
        preserve_parens: false,
        ..ParseOptions::default()
    };
    Parser::new(allocator, text, source)
        .with_options(options)
        .parse()
}

fn source_type(file: &str) -> SourceType {
    match file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("ts") => SourceType::ts().with_unambiguous(true),
        Some("mts") => SourceType::ts().with_module(true),
        Some("cts") => SourceType::ts().with_commonjs(true),
        Some("mjs") => SourceType::mjs(),
        Some("cjs") => SourceType::cjs(),
        _ => SourceType::unambiguous(),
    }
}

/// By its extension, or by its content.
fn kind(file: &str, parsed: &ParserReturn<'_>) -> Result<SourceDialect, (usize, &'static str)> {
    let mut assigned = None;
    let mut module = None;
    for statement in &parsed.program.body {
        match statement {
            Statement::TSExportAssignment(_) | Statement::TSImportEqualsDeclaration(_) => {
                assigned.get_or_insert(statement.span().start as usize);
            }
            Statement::ImportDeclaration(import) if import.import_kind.is_type() => {}
            statement if statement.is_module_declaration() => {
                module.get_or_insert(statement.span().start as usize);
            }
            _ => {}
        }
    }
    if file.ends_with(".cjs") || file.ends_with(".cts") {
        return Ok(SourceDialect::Common);
    }
    match (assigned, module) {
        (Some(at), Some(_)) => Err((
            at,
            "`export =` and `import … = require()` can't be combined with `import` and `export`: write `export default`",
        )),
        (Some(_), None) => Ok(SourceDialect::Common),
        _ if file.ends_with(".mjs") || file.ends_with(".mts") => Ok(SourceDialect::Module),
        _ if parsed.module_record.has_module_syntax => Ok(SourceDialect::Module),
        _ => Ok(SourceDialect::Common),
    }
}

fn strip<'a>(
    allocator: &'a Allocator,
    file: &str,
    kind: SourceDialect,
    program: &mut Program<'a>,
) -> Result<(), (usize, String)> {
    let mut options = TransformOptions::default();
    if kind == SourceDialect::Common {
        options.env.module = Module::CommonJS;
    }
    let semantic = SemanticBuilder::new()
        .with_excess_capacity(2.0)
        .with_enum_eval(true)
        .build(program);
    let scoping = semantic.semantic.into_scoping();
    let done =
        Transformer::new(allocator, Path::new(file), &options).build_with_scoping(scoping, program);
    if kind == SourceDialect::Common {
        // The remainder of a type import, which would mark the file as a module.
        program.body.retain(|statement| {
            !matches!(statement, Statement::ExportNamedDeclaration(export) if export.specifiers.is_empty())
        });
    }
    let Some(error) = done.diagnostics.errors().next() else {
        return Ok(());
    };
    let offset = error
        .labels
        .iter()
        .map(|label| label.offset() as usize)
        .min();
    Err((offset.unwrap_or_default(), error.message.to_string()))
}

fn print(program: &Program<'_>) -> String {
    let options = CodegenOptions {
        comments: oxc_codegen::CommentOptions::disabled(),
        ..CodegenOptions::default()
    };
    Codegen::new().with_options(options).build(program).code
}

/// Nodes at which errors can happen: their kinds and starts, in the order of the tree.
fn nodes(program: &Program<'_>) -> Vec<(&'static str, usize)> {
    let semantic = SemanticBuilder::new()
        .with_build_nodes(true)
        .build(program)
        .semantic;
    let all = semantic.nodes().iter();
    all.filter_map(|node| {
        let kind = node.kind();
        let name = match kind {
            AstKind::CallExpression(_) => "call",
            AstKind::NewExpression(_) => "new",
            AstKind::ThrowStatement(_) => "throw",
            AstKind::StaticMemberExpression(_) => "member",
            AstKind::ComputedMemberExpression(_) => "computed",
            AstKind::IdentifierReference(_) => "identifier",
            AstKind::AwaitExpression(_) => "await",
            AstKind::ReturnStatement(_) => "return",
            AstKind::Function(_) => "function",
            AstKind::ArrowFunctionExpression(_) => "arrow",
            _ => return None,
        };
        Some((name, kind.span().start as usize))
    })
    .collect()
}

fn position(text: &str, offset: usize) -> SourcePosition {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    SourcePosition {
        line: before.matches('\n').count() + 1,
        column: before[line..].chars().count() + 1,
    }
}

fn offset(text: &str, at: SourcePosition) -> Option<usize> {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines
        .by_ref()
        .take(at.line.checked_sub(1)?)
        .map(str::len)
        .sum();
    let line = lines.next()?;
    let inside = line.char_indices().nth(at.column.saturating_sub(1));
    Some(before + inside.map_or(line.len(), |(offset, _)| offset))
}
