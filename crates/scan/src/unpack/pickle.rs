//! Pickles: the imports and calls that loading one would make.
//!
//! A pickle is a program for a small stack machine, and `REDUCE` calls whatever the program imported. The machine
//! is imitated with symbols in place of objects, so that a name that is built on the stack, kept in the memo or
//! buried under other items is still found. Nothing is ever loaded.

use std::collections::HashMap;

use super::bytes::ByteReader;

/// An import of a pickle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PickleImport {
    /// The module, `?` if it is not known.
    pub module: String,
    /// The name in it, `?` if it is not known.
    pub name: String,
    /// Whether it is called while loading.
    pub called: bool,
}

/// The effects of loading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pickle {
    /// Imports in order.
    pub imports: Vec<PickleImport>,
    /// Strings in order, which are the arguments of the calls.
    pub strings: Vec<String>,
    /// Whether each opcode was parsed, up to the last `STOP`.
    pub complete: bool,
}

/// The maximum number of listed imports and strings.
const MOST: usize = 10_000;
/// The maximum length of a name.
const LONGEST: usize = 256;

#[derive(Clone, Copy)]
enum PickleItem {
    Text(usize),
    Import(usize),
    Other,
    Mark,
}

struct PickleMachine<'a> {
    reader: ByteReader<'a>,
    stack: Vec<PickleItem>,
    memo: HashMap<u64, PickleItem>,
    pickle: Pickle,
}

/// Reads a pickle, and further ones in the same bytes.
#[must_use]
pub(crate) fn pickle(bytes: &[u8]) -> Pickle {
    let mut machine = PickleMachine {
        reader: ByteReader::new(bytes),
        stack: Vec::new(),
        memo: HashMap::new(),
        pickle: Pickle::default(),
    };
    while machine.run() == Some(()) {
        machine.pickle.complete = true;
        machine.stack.clear();
        machine.memo.clear();
        if bytes.get(machine.reader.position()) != Some(&0x80) {
            return machine.pickle;
        }
    }
    machine.pickle.complete = false;
    machine.pickle
}

impl PickleMachine<'_> {
    /// Until `STOP`; `None` if it never comes.
    fn run(&mut self) -> Option<()> {
        loop {
            let code = self.reader.byte()?;
            if code == b'.' {
                return Some(());
            }
            self.step(code)?;
        }
    }

    fn step(&mut self, code: u8) -> Option<()> {
        match code {
            b'N' | 0x88 | 0x89 | b']' | b'}' | b')' | 0x8f | 0x97 => self.push(PickleItem::Other),
            b'K' | 0x82 => self.constant(1)?,
            b'M' | 0x83 => self.constant(2)?,
            b'J' | 0x84 => self.constant(4)?,
            b'G' => self.constant(8)?,
            b'I' | b'L' | b'F' | b'P' => {
                self.reader.until(b'\n')?;
                self.push(PickleItem::Other);
            }
            b'S' | b'V' => {
                let line = self.reader.until(b'\n')?;
                self.text(trim_quotes(line));
            }
            0x8a | b'C' => {
                let length = u64::from(self.reader.byte()?);
                self.data(length)?;
            }
            0x8b | b'B' => {
                let length = u64::from(self.reader.low32()?);
                self.data(length)?;
            }
            0x8e | 0x96 => {
                let length = self.reader.low64()?;
                self.data(length)?;
            }
            b'U' | 0x8c => {
                let length = u64::from(self.reader.byte()?);
                self.counted_text(length)?;
            }
            b'T' | b'X' => {
                let length = u64::from(self.reader.low32()?);
                self.counted_text(length)?;
            }
            0x8d => {
                let length = self.reader.low64()?;
                self.counted_text(length)?;
            }
            0x80 => {
                self.reader.byte()?;
            }
            0x95 => {
                self.reader.low64()?;
            }
            0x98 => {}
            _ => self.act(code)?,
        }
        Some(())
    }

    /// Opcodes that work on the stack.
    fn act(&mut self, code: u8) -> Option<()> {
        match code {
            b'(' => self.push(PickleItem::Mark),
            b'0' | b'a' | b'b' => self.pop(1),
            b's' => self.pop(2),
            b'1' | b'e' | b'u' | 0x90 => self.pop_to_mark(),
            b'l' | b't' | b'd' | 0x91 => {
                self.pop_to_mark();
                self.push(PickleItem::Other);
            }
            b'2' => {
                let top = self.top(0);
                self.push(top);
            }
            0x85 => self.replace(1),
            0x86 => self.replace(2),
            0x87 => self.replace(3),
            b'Q' => self.replace(1),
            b'R' | 0x81 => self.call(1),
            0x92 => self.call(2),
            b'o' => {
                let mark = self
                    .stack
                    .iter()
                    .rposition(|item| matches!(item, PickleItem::Mark));
                let class = mark.and_then(|mark| self.stack.get(mark + 1)).copied();
                self.note_call(class);
                self.pop_to_mark();
                self.push(PickleItem::Other);
            }
            b'c' | b'i' => {
                let module = String::from_utf8_lossy(self.reader.until(b'\n')?).into_owned();
                let name = String::from_utf8_lossy(self.reader.until(b'\n')?).into_owned();
                if code == b'i' {
                    self.pop_to_mark();
                }
                self.import(module, name, code == b'i');
            }
            0x93 => {
                let (name, module) = (self.word(self.top(0)), self.word(self.top(1)));
                self.pop(2);
                self.import(module, name, false);
            }
            _ => self.remember(code)?,
        }
        Some(())
    }

    fn remember(&mut self, code: u8) -> Option<()> {
        let key = match code {
            b'p' | b'g' => std::str::from_utf8(self.reader.until(b'\n')?)
                .ok()?
                .trim()
                .parse()
                .ok()?,
            b'q' | b'h' => u64::from(self.reader.byte()?),
            b'r' | b'j' => u64::from(self.reader.low32()?),
            0x94 => u64::try_from(self.memo.len()).ok()?,
            _ => return None,
        };
        if matches!(code, b'g' | b'h' | b'j') {
            let item = self.memo.get(&key).copied().unwrap_or(PickleItem::Other);
            self.push(item);
        } else {
            let top = self.top(0);
            self.memo.insert(key, top);
        }
        Some(())
    }

    fn push(&mut self, item: PickleItem) {
        self.stack.push(item);
    }

    fn pop(&mut self, count: usize) {
        self.stack.truncate(self.stack.len().saturating_sub(count));
    }

    fn pop_to_mark(&mut self) {
        while self
            .stack
            .pop()
            .is_some_and(|item| !matches!(item, PickleItem::Mark))
        {}
    }

    fn replace(&mut self, count: usize) {
        self.pop(count);
        self.push(PickleItem::Other);
    }

    fn top(&self, below: usize) -> PickleItem {
        self.stack
            .len()
            .checked_sub(below + 1)
            .and_then(|at| self.stack.get(at))
            .copied()
            .unwrap_or(PickleItem::Other)
    }

    fn constant(&mut self, length: usize) -> Option<()> {
        self.reader.take(length)?;
        self.push(PickleItem::Other);
        Some(())
    }

    /// Bytes may be the text of a command as well as any string.
    fn data(&mut self, length: u64) -> Option<()> {
        let bytes = self.reader.take(usize::try_from(length).ok()?)?;
        match std::str::from_utf8(bytes) {
            Ok(text) if bytes.len() > 3 && self.pickle.strings.len() < MOST => {
                self.pickle.strings.push(text.to_owned());
            }
            _ => {}
        }
        self.push(PickleItem::Other);
        Some(())
    }

    fn counted_text(&mut self, length: u64) -> Option<()> {
        let bytes = self.reader.take(usize::try_from(length).ok()?)?;
        self.text(bytes);
        Some(())
    }

    fn text(&mut self, bytes: &[u8]) {
        if self.pickle.strings.len() >= MOST {
            return self.push(PickleItem::Other);
        }
        self.push(PickleItem::Text(self.pickle.strings.len()));
        self.pickle
            .strings
            .push(String::from_utf8_lossy(bytes).into_owned());
    }

    /// A module or a name; one that is too long for either is cut, since it may be fetched a million times.
    fn word(&self, item: PickleItem) -> String {
        let word = match item {
            PickleItem::Text(index) => self.pickle.strings.get(index).map_or("?", String::as_str),
            _ => "?",
        };
        word.chars().take(LONGEST).collect()
    }

    fn import(&mut self, module: String, name: String, called: bool) {
        if self.pickle.imports.len() >= MOST {
            return self.push(PickleItem::Other);
        }
        self.push(PickleItem::Import(self.pickle.imports.len()));
        self.pickle.imports.push(PickleImport {
            module,
            name,
            called,
        });
    }

    /// Calls the item below its arguments.
    fn call(&mut self, arguments: usize) {
        self.note_call(Some(self.top(arguments)));
        self.replace(arguments + 1);
    }

    fn note_call(&mut self, callee: Option<PickleItem>) {
        if let Some(PickleItem::Import(index)) = callee
            && let Some(import) = self.pickle.imports.get_mut(index)
        {
            import.called = true;
        }
    }
}

fn trim_quotes(line: &[u8]) -> &[u8] {
    match line {
        [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => inner,
        line => line,
    }
}
