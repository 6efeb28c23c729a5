// The first thing that runs: CommonJS, and globals that are loaded when somebody looks at them.
//
// `native` is what Rust gives; only the modules of ours get it. What it lets them ask for is decided by the host, so a skill that gets
// hold of it gains nothing.
(function (native, globals) {
  "use strict";
  const { create, defineProperty } = Object;
  const cache = create(null);
  const folder = (path) => path.slice(0, Math.max(path.lastIndexOf("/"), 0));

  function load(name) {
    if (cache[name]) return cache[name].exports;
    const module = (cache[name] = { exports: {}, id: name, filename: native.path(name), loaded: false });
    try {
      const { run, exports } = native.prepare(name);
      if (run) run.call(module.exports, module.exports, requires(name), module, module.filename, folder(module.filename));
      else module.exports = exports;
      module.loaded = true;
    } catch (error) {
      delete cache[name];
      throw error;
    }
    return module.exports;
  }

  function requires(base) {
    const require = (word) => load(native.resolve(base, `${word}`));
    require.resolve = (word) => native.path(native.resolve(base, `${word}`));
    require.cache = cache;
    return require;
  }

  const lazy = (name, get) => {
    const put = (value) => defineProperty(globalThis, name, { value, writable: true, configurable: true });
    defineProperty(globalThis, name, { configurable: true, get: () => get(put), set: put });
  };
  for (const [name, from] of globals) {
    lazy(name, (put) => {
      const value = load(from)[name] ?? load(from);
      put(value);
      return value;
    });
  }
  // These depend on who looks. A module that declares one of them itself has its own.
  lazy("__filename", () => native.path(native.caller() ?? ""));
  lazy("__dirname", () => folder(native.path(native.caller() ?? "")));
  lazy("require", () => requires(native.caller() ?? ""));
  globalThis.global = globalThis;
  cache["metier:native"] = { exports: native };
  // Where a skill that is written for pipes goes on.
  globalThis[Symbol.for("metier.engine")] = (skill) => load("metier:engine")(skill);
  // What a file passes to `runHook` of `openclaw/hooks` is its handler.
  globalThis[Symbol.for("metier.hooks")] = (handler) => void (native.handler = handler);
  // `await` asks nobody: what a script did to promises does not change it.
  return { load, call: async (code, ...given) => await code(...given) };
})
