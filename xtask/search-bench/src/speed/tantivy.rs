//! tantivy with two fields, name and description in one, and English stems.

use std::path::{Path, PathBuf};

use tantivy::{
    Index, IndexReader, TantivyDocument,
    collector::TopDocs,
    doc,
    query::QueryParser,
    schema::{Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions},
};

use crate::{Result, SkillText};

const THREADS: usize = 2;
/// The minimum that it requests, for each thread.
const MEMORY: usize = THREADS * 15_000_000;

struct Fields {
    schema: Schema,
    key: Field,
    head: Field,
    body: Field,
}

fn fields() -> Fields {
    let mut schema = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer("en_stem")
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(words);
    Fields {
        key: schema.add_text_field("key", STRING | STORED),
        head: schema.add_text_field("head", text.clone()),
        body: schema.add_text_field("body", text),
        schema: schema.build(),
    }
}

pub(crate) fn build(paths: &[PathBuf], folder: &Path) -> Result<()> {
    let fields = fields();
    let index = Index::create_in_dir(folder, fields.schema)?;
    let mut writer = index.writer_with_num_threads::<TantivyDocument>(THREADS, MEMORY)?;
    for path in paths {
        let skill = SkillText::read(path)?;
        let head = format!("{} {} {}", skill.name, skill.name, skill.description);
        writer.add_document(
            doc!(fields.key => skill.name.as_str(), fields.head => head, fields.body => skill.body()),
        )?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(())
}

pub(crate) struct OpenIndex {
    reader: IndexReader,
    parser: QueryParser,
}

impl OpenIndex {
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        let fields = fields();
        let index = Index::open_in_dir(folder)?;
        let mut parser = QueryParser::for_index(&index, vec![fields.head, fields.body]);
        parser.set_field_boost(fields.body, 2.0);
        Ok(Self {
            reader: index.reader()?,
            parser,
        })
    }

    pub(crate) fn search(&self, query: &str) -> Result<usize> {
        let plain: String = query
            .chars()
            .map(|c| {
                if c.is_alphanumeric() {
                    c.to_ascii_lowercase()
                } else {
                    ' '
                }
            })
            .collect();
        let (query, _) = self.parser.parse_query_lenient(&plain);
        let top = TopDocs::with_limit(10).order_by_score();
        Ok(self.reader.searcher().search(&query, &top)?.len())
    }
}
