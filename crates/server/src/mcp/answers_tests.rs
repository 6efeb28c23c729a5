//! The text next to a document names the same skills and findings, on lines of their own.

use serde_json::json;

use super::{list_text, scan_text};

#[test]
fn a_list_names_what_keeps_a_skill_from_being_used() {
    let document = json!({"skills": [
        {"name": "a", "description": "Does\na.", "status": "ready", "reasons": []},
        {"name": "b", "description": "Does b.", "status": "not_ready", "reasons": [{"message": "requires `gh`", "hint": "brew install gh"}]},
        {"name": "c", "description": "Does c.", "status": "shadowed", "reasons": [], "shadowed_by": "/skills/c"},
        {"name": "d", "description": "", "status": "invalid", "reasons": []},
    ]});
    assert_eq!(
        list_text(document["skills"].as_array().unwrap()),
        "✓ a - Does a.\n✗ b - Does b.\n    requires `gh` → brew install gh\n- c - Does c.\n    shadowed by /skills/c\n✗ d - invalid\n"
    );
    assert_eq!(list_text(&[]), "no skills\n");
}

#[test]
fn a_scan_names_each_finding_with_its_place() {
    let finding = json!({"severity": "critical", "rule": "exfil", "file": "a.sh", "line": 3, "message": "sends a key", "evidence": "curl\u{1b}[2J"});
    let row = json!({
        "name": "a", "verdict": "critical", "findings": vec![finding; 2], "more": 3, "capabilities": ["net:fetch"],
        "unread": [{"file": "b.bin", "why": "too large"}], "acceptance": null,
    });
    let text = scan_text(&row);
    assert!(
        text.starts_with(
            "a: critical\ncritical exfil a.sh:3: sends a key\n    evidence: curl\\u{1b}[2J\n"
        ),
        "{text}"
    );
    assert!(
        text.ends_with("… and 3 more: call it again with a larger `limit`\nnot read: b.bin: too large\nit can use: net:fetch\n"),
        "{text}"
    );
}
