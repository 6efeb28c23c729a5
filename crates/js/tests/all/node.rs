//! The other modules of Node that a handler expects.

use serde_json::json;

use crate::talk::{Talk, out};

#[test]
fn paths_are_those_of_node() {
    for (code, expected) in [
        ("path.join('/a', '..', 'b', './c/')", json!("/b/c/")),
        ("path.join('', '')", json!(".")),
        ("path.join('..', '../x')", json!("../../x")),
        ("path.normalize('/../a//b/./..')", json!("/a")),
        ("path.resolve('x', '../y')", json!("/project/y")),
        ("path.resolve('/a', 'b', '/c', 'd/')", json!("/c/d")),
        (
            "[path.dirname('/a/b/'), path.dirname('a'), path.dirname('/a'), path.dirname('')]",
            json!(["/a", ".", "/", "."]),
        ),
        (
            "[path.basename('/a/b.md'), path.basename('/a/b.md', '.md'), path.basename('/a/'), path.basename('.md', '.md')]",
            json!(["b.md", "b", "a", ".md"]),
        ),
        (
            "[path.extname('a.b.c'), path.extname('.x'), path.extname('a.'), path.extname('a/.b/c')]",
            json!([".c", "", ".", ""]),
        ),
        (
            "[path.relative('/a/b/c', '/a/d'), path.relative('/a', '/a'), path.isAbsolute('a')]",
            json!(["../../d", "", false]),
        ),
        (
            "path.parse('/x/y.tar.gz')",
            json!({"root": "/", "dir": "/x", "base": "y.tar.gz", "ext": ".gz", "name": "y.tar"}),
        ),
        (
            "path.format({ dir: '/x', name: 'a', ext: '.b' })",
            json!("/x/a.b"),
        ),
        ("path.posix === path && path.sep", json!("/")),
        (
            "(() => { try { path.join(null) } catch (e) { return e.name } })()",
            json!("TypeError"),
        ),
    ] {
        assert_eq!(
            out(&format!("const path = require('node:path'); out = {code};")),
            expected,
            "{code}"
        );
    }
}

#[test]
fn small_modules_do_what_is_expected_of_them() {
    for (code, expected) in [
        (
            "const { promisify, format, inspect } = require('util'); out = [await promisify((x, done) => done(null, x + 1))(1), format('%s:%j', 'a', [1]), inspect({ a: { b: { c: { d: { e: { f: 1 } } } } } })]",
            json!([2, "a:[1]", "{ a: { b: { c: { d: { e: [Object] } } } } }"]),
        ),
        (
            "const E = require('events'); const e = new E(); const seen = []; e.on('x', (v) => seen.push(v)); e.once('x', () => seen.push('once')); e.emit('x', 1); e.emit('x', 2); out = [seen, e.listenerCount('x'), E.EventEmitter === E]",
            json!([[1, "once", 2], 1, true]),
        ),
        (
            "const { Buffer } = require('node:buffer'); out = [Buffer.from('aGk=', 'base64').toString(), Buffer.from('hi€').toString('hex'), Buffer.from('6869', 'hex').toString('utf8'), Buffer.concat([Buffer.from('a'), Buffer.from('b')]).toString(), Buffer.byteLength('€'), Buffer.from('~~?').toString('base64url')]",
            json!(["hi", "6869e282ac", "hi", "ab", 3, "fn4_"]),
        ),
        (
            "const assert = require('node:assert'); assert(true); assert.deepStrictEqual({ a: [1] }, { a: [1] }); assert.throws(() => { throw new TypeError('x') }, TypeError); try { assert.equal(1, 2) } catch (e) { out = [e.code, e.message] }",
            json!(["ERR_ASSERTION", "1 is not 2"]),
        ),
        (
            "const os = require('os'); out = [os.EOL, os.platform(), os.tmpdir(), os.arch() === process.arch]",
            json!(["\n", "linux", "/tmp", true]),
        ),
        (
            "const { fileURLToPath, pathToFileURL } = require('url'); out = [fileURLToPath('file:///a%20b'), pathToFileURL('/a b#c').href]",
            json!(["/a b", "file:///a%20b%23c"]),
        ),
        (
            "const { setTimeout } = require('node:timers/promises'); out = await setTimeout(1, 'later')",
            json!("later"),
        ),
        (
            "const c = require('crypto'); const hex = (x) => c.createHash('sha256').update(x).digest('hex'); out = [hex(''), hex('abc'), hex('a'.repeat(1000)), c.randomBytes(8).length, c.timingSafeEqual(Buffer.from('a'), Buffer.from('b')), c.randomInt(5) < 5]",
            json!([
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3",
                8,
                false,
                true
            ]),
        ),
        (
            "try { require('crypto').createHash('md5') } catch (e) { out = e.message }",
            json!("the digest 'md5' is not available; use sha256"),
        ),
        (
            "out = require('node:process') === process && require('fs').promises === require('fs/promises')",
            json!(true),
        ),
    ] {
        assert_eq!(out(code), expected, "{code}");
    }
}

#[test]
fn a_home_that_may_be_read_is_the_home() {
    let body = "import os from 'node:os'; export default (e) => { e.context = os.homedir() };";
    let said = Talk::handler("h.mjs", body)
        .host(|_, _| Ok(json!({"value": "/home/ada"})))
        .event(&json!({}))
        .run();
    assert_eq!(said.context(), json!("/home/ada"));
}
