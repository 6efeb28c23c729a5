//! SVG: an image format with scripts.
//!
//! A browser executes script elements, attributes that begin with `on`,
//! `javascript:` links, and the HTML of a foreign object; and it fetches references. All of these
//! are listed, with the text that a reader of the source would see. The same walk serves HTML.

use super::xml::{XmlEvent, XmlEvents, attributes, entities};

/// The scripts, links and text of an image or a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Svg {
    /// The contents of script elements.
    pub scripts: Vec<String>,
    /// Event handlers: attribute and code. An animation that sets one counts.
    pub handlers: Vec<(String, String)>,
    /// Links that are code: `javascript:`, `vbscript:`, `data:text/html`.
    pub code_links: Vec<String>,
    /// References out of the document, including loaded scripts.
    pub links: Vec<String>,
    /// Whether there is foreign (HTML) content or a frame.
    pub foreign: bool,
    /// Whether its document type declares entities, which can hide any of the above.
    pub entities: bool,
    /// The text between the tags, styles and scripts left out.
    pub text: String,
}

/// Reads an SVG or HTML document.
#[must_use]
pub(crate) fn svg(bytes: &[u8]) -> Svg {
    let text = String::from_utf8_lossy(bytes);
    let mut svg = Svg::default();
    let mut inside = String::new();
    for event in XmlEvents::new(&text) {
        match event {
            XmlEvent::Open { name, rest } => {
                let name = name.to_ascii_lowercase();
                svg.foreign |= matches!(
                    name.as_str(),
                    "foreignobject" | "iframe" | "embed" | "object"
                );
                svg.attributes(rest);
                if matches!(name.as_str(), "script" | "style") && !rest.trim_end().ends_with('/') {
                    if name == "script" {
                        svg.scripts.push(String::new());
                    }
                    inside = name;
                }
            }
            XmlEvent::Close(name) if name.eq_ignore_ascii_case(&inside) => inside.clear(),
            XmlEvent::Text(text) if inside == "script" => {
                if let Some(script) = svg.scripts.last_mut() {
                    script.push_str(&entities(text));
                }
            }
            XmlEvent::Text(text) if inside == "style" => svg.style(text),
            XmlEvent::Text(text) if !text.trim().is_empty() => {
                svg.text.push_str(entities(text).trim());
                svg.text.push('\n');
            }
            XmlEvent::Doctype(declared) => svg.entities |= declared.contains("<!ENTITY"),
            _ => {}
        }
    }
    svg.scripts.retain(|script| !script.trim().is_empty());
    svg
}

impl Svg {
    fn attributes(&mut self, rest: &str) {
        let list = attributes(rest);
        let target = list
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("attributeName"))
            .map(|(_, value)| value.clone());
        for (name, value) in list {
            let name = name.to_ascii_lowercase();
            let plain: String = value
                .chars()
                .filter(|c| !c.is_whitespace() && !c.is_control())
                .take(32)
                .collect();
            let plain = plain.to_ascii_lowercase();
            if name.starts_with("on") && name.len() > 2 {
                self.handlers.push((name, value));
            } else if ["javascript:", "vbscript:", "data:text/html"]
                .iter()
                .any(|scheme| plain.starts_with(scheme))
            {
                self.code_links.push(value);
            } else if matches!(name.as_str(), "href" | "src" | "data" | "action" | "poster") {
                if !plain.is_empty() && !plain.starts_with('#') {
                    self.links.push(value);
                }
            } else if matches!(name.as_str(), "to" | "values" | "from")
                && let Some(event) = target
                    .as_ref()
                    .filter(|event| event.to_ascii_lowercase().starts_with("on"))
            {
                self.handlers.push((event.clone(), value));
            } else if value.contains("url(") {
                self.style(&value);
            }
        }
    }

    /// `url(…)` and `@import "…"` of a style.
    fn style(&mut self, style: &str) {
        for rest in style.split("url(").skip(1) {
            self.style_link(rest.split(')').next().unwrap_or_default());
        }
        for rest in style.split("@import").skip(1) {
            let rest = rest.trim_start();
            if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
                self.style_link(rest.split(quote).nth(1).unwrap_or_default());
            }
        }
    }

    fn style_link(&mut self, link: &str) {
        let link = link.trim().trim_matches(['"', '\'']);
        if !link.is_empty() && !link.starts_with('#') {
            self.links.push(link.to_owned());
        }
    }
}
