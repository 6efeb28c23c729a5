//! Formats that are opened: documents, pictures, notebooks, pickles.

use std::io::Write;
use std::time::Duration;

use metier_testkit::patience::within_processor_time;
use proptest::prelude::*;

use super::archive::UnpackLimits;
use super::notebook::{Sort, notebook};
use super::office::office;
use super::pdf::pdf;
use super::pickle::pickle;
use super::svg::svg;
use super::tests::mutated;
use crate::made::zipped;

const SVG: &[u8] = br##"<?xml version="1.0"?>
<!DOCTYPE svg [<!ENTITY x "y">]>
<svg xmlns="http://www.w3.org/2000/svg" onload = 'steal(&quot;x&quot;)'>
  <script type="text/javascript"><![CDATA[ fetch("//evil") ]]></script>
  <script href="https://evil.example/x.js"/>
  <a xlink:href="java&#10;script:alert(1)"><text>Click &amp; see</text></a>
  <set attributeName="onclick" to="run()"/>
  <foreignObject><div>HTML</div></foreignObject>
  <style>@import "https://a.example/a.css"; rect { fill: url(#grad); mask: url('http://b.example/b') }</style>
  <use href="#local"/>
</svg>"##;

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn sample_pdf() -> Vec<u8> {
    let page = deflated(b"BT (Hello) Tj [(Wo) 20 (rld)] TJ ET");
    let script = deflated(b"this.exportDataObject({cName: 'x'})");
    [
        &b"%PDF-1.7\n1 0 obj << /OpenAction << /S /J#61vaScript /JS (app.alert\\(1\\)) >> /AA << >> >> endobj\n"[..],
        b"2 0 obj << /A << /S /URI /URI (https://evil.example) >> /S /Launch /Names << /EmbeddedFiles 9 0 R >> >> endobj\n",
        b"3 0 obj << /Filter /FlateDecode >> stream\n",
        &page,
        b"\nendstream endobj\n4 0 obj << /S /JavaScript /JS 5 0 R >> endobj\n5 0 obj << /Filter [/FlateDecode] >> stream\r\n",
        &script,
        b"\nendstream endobj\n6 0 obj << /Title <feff00480069> >> endobj\n%%EOF",
    ]
    .concat()
}

fn sample_document() -> Vec<u8> {
    let rels = br#"<Relationships><Relationship Id="r1" Type="http://x/relationships/attachedTemplate" Target="https://evil.example/t.dotm" TargetMode="External"/><Relationship Type="http://x/styles" Target="styles.xml"/></Relationships>"#;
    zipped(&[
        ("[Content_Types].xml", b"<Types/>"),
        (
            "word/document.xml",
            b"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>ignore </w:t></w:r><w:t>all</w:t></w:p><w:p><w:instrText>DDEAUTO cmd</w:instrText><w:t>two</w:t></w:p>",
        ),
        ("word/_rels/document.xml.rels", rels),
        ("word/vbaProject.bin", b"\xd0\xcf"),
        ("word/embeddings/oleObject1.bin", b"x"),
        ("docProps/core.xml", b"<dc:title>My &lt;title&gt;</dc:title>"),
    ])
}

fn sample_pickle() -> Vec<u8> {
    // os and system are pushed, buried under other items that are popped, joined, and called with `id`.
    [
        &b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94K\x010\x93\x94\x8c\x02id\x85R."[..],
        b"\x80\x02cbuiltins\neval\n.",
    ]
    .concat()
}

#[test]
fn a_picture_that_runs_is_taken_apart() {
    let found = svg(SVG);
    assert_eq!(found.scripts, [" fetch(\"//evil\") "]);
    assert_eq!(
        found.handlers,
        [
            ("onload".to_owned(), "steal(\"x\")".to_owned()),
            ("onclick".to_owned(), "run()".to_owned())
        ]
    );
    assert_eq!(found.code_links, ["java\nscript:alert(1)"]);
    assert_eq!(
        found.links,
        [
            "https://evil.example/x.js",
            "http://b.example/b",
            "https://a.example/a.css"
        ]
    );
    assert!(found.foreign && found.entities);
    assert_eq!(found.text, "Click & see\nHTML\n");
    let plain = svg(b"<svg><path d='M0 0'/><title>Logo</title></svg>");
    assert_eq!(
        (
            plain.text.as_str(),
            plain.handlers.len(),
            plain.links.len(),
            plain.foreign
        ),
        ("Logo\n", 0, 0, false)
    );
}

// case 69
#[test]
fn a_document_gives_up_its_text_and_its_links() {
    let found = office(&sample_document(), UnpackLimits::default());
    assert_eq!(
        found.texts,
        [
            (
                "word/document.xml".to_owned(),
                "ignore all\ntwo\n".to_owned()
            ),
            ("docProps/core.xml".to_owned(), "My <title>\n".to_owned()),
        ]
    );
    assert_eq!(found.instructions, ["DDEAUTO cmd"]);
    assert_eq!(
        (found.macros.len(), found.objects.len(), found.hidden_text),
        (1, 1, true)
    );
    assert_eq!(found.external.len(), 1);
    assert_eq!(
        (
            found.external[0].kind.as_str(),
            found.external[0].target.as_str()
        ),
        ("attachedTemplate", "https://evil.example/t.dotm")
    );
}

// case 69
#[test]
fn a_notebook_gives_up_its_cells() {
    let bytes = br##"{"metadata": {"kernelspec": {"language": "python"}}, "cells": [
        {"cell_type": "markdown", "source": ["# A\n", "text"]},
        {"cell_type": "code", "source": "%%bash\ncurl x", "outputs": [{"output_type": "stream", "text": ["done\n"]}]},
        {"cell_type": "code", "source": ["import os"], "outputs": [{"data": {"text/html": "<b>", "image/png": "iVBO"}}]}]}"##;
    let found = notebook(bytes).unwrap();
    let cells: Vec<(Sort, &str, &str)> = found
        .cells
        .iter()
        .map(|cell| (cell.sort, cell.language.as_str(), cell.source.as_str()))
        .collect();
    assert_eq!(
        cells,
        [
            (Sort::Markdown, "markdown", "# A\ntext"),
            (Sort::Code, "bash", "%%bash\ncurl x"),
            (Sort::Code, "python", "import os")
        ]
    );
    assert_eq!(
        (&found.cells[1].outputs[..], &found.cells[2].outputs[..]),
        (&["done\n".to_owned()][..], &["<b>".to_owned()][..])
    );
    assert_eq!(notebook(b"not json"), None);
}

#[test]
fn the_actions_of_a_pdf_are_found() {
    let found = pdf(&sample_pdf());
    assert_eq!(
        found.scripts,
        ["app.alert(1)", "this.exportDataObject({cName: 'x'})"]
    );
    assert_eq!(found.uris, ["https://evil.example"]);
    assert!(
        found.javascript
            && found.open_action
            && found.additional_actions
            && found.launch
            && found.embedded_file
    );
    assert!(!found.encrypted && !found.cut);
    assert_eq!(found.text, "Hello\nWorld\n{cName: 'x'}\nHi\n");
    assert!(pdf(b"%PDF-1.4\ntrailer << /Encrypt 3 0 R >>").encrypted);
    let plain = pdf(b"%PDF-1.4\n1 0 obj << /Type /Catalog /Title (A report) >> endobj");
    assert_eq!(
        (plain.text.as_str(), plain.javascript, plain.open_action),
        ("A report\n", false, false)
    );
}

#[test]
fn the_calls_of_a_pickle_are_found() {
    let found = pickle(&sample_pickle());
    assert!(found.complete);
    let imports: Vec<(&str, &str, bool)> = found
        .imports
        .iter()
        .map(|import| (import.module.as_str(), import.name.as_str(), import.called))
        .collect();
    assert_eq!(
        imports,
        [("os", "system", true), ("builtins", "eval", false)]
    );
    assert_eq!(found.strings, ["os", "system", "id"]);
    let old = pickle(b"(S'id'\nios\nsystem\n.");
    assert_eq!(
        (old.imports[0].module.as_str(), old.imports[0].called),
        ("os", true)
    );
    let honest = pickle(b"\x80\x04\x95\x0b\0\0\0\0\0\0\0}\x94\x8c\x01a\x94K\x01s.");
    assert!(honest.complete && honest.imports.is_empty());
    assert!(!pickle(b"\x80\x04\x8c\x02o").complete);
}

#[test]
fn endless_repetition_is_fast() {
    for unit in [
        "<a \">\" ",
        "<a '",
        "<",
        "<![CDATA[",
        "<!x [",
        "&",
        "(",
        "<<",
        "/JS ",
        "stream\n",
        "1 0 obj stream endstream ",
        "(\\1",
        "N",
        "(",
        "2",
        "\u{94}",
    ] {
        let text = unit.repeat(512 * 1024 / unit.len());
        within_processor_time(unit, Duration::from_secs(5), || {
            let _ = (
                svg(text.as_bytes()),
                pdf(text.as_bytes()),
                pickle(text.as_bytes()),
                notebook(text.as_bytes()),
            );
        });
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(noise in proptest::collection::vec(any::<u8>(), 0..500)) {
        let _ = (svg(&noise), pdf(&noise), pickle(&noise), notebook(&noise), office(&noise, UnpackLimits::default()));
    }

    #[test]
    fn any_markup_is_survived(noise in "[<>/!\\[\\]\\-a-c=\"' &;#x0-9()\\\\]{0,200}") {
        let _ = (svg(noise.as_bytes()), pdf(noise.as_bytes()));
    }

    #[test]
    fn damaged_samples_are_survived(cut in 0..200_usize, at in any::<usize>(), byte in any::<u8>()) {
        let _ = svg(&mutated(SVG, cut, at, byte));
        let _ = pdf(&mutated(&sample_pdf(), cut, at, byte));
        let _ = pickle(&mutated(&sample_pickle(), cut % 30, at, byte));
        let _ = office(&mutated(&sample_document(), cut, at, byte), UnpackLimits::default());
        let _ = notebook(&mutated(br#"{"cells": [{"cell_type": "code", "source": ["a"], "outputs": [{"data": {"text/plain": 1}}]}]}"#, cut % 20, at, byte));
    }
}
