// Runs first: CommonJS, and globals that are loaded at their first use.
//
// `native` has the functions in Rust; only our modules get it. The host checks every request, so a skill gains nothing
// by getting it.
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
  // These depend on the file. A module that declares one itself has its own.
  lazy("__filename", () => native.path(native.caller() ?? ""));
  lazy("__dirname", () => folder(native.path(native.caller() ?? "")));
  lazy("require", () => requires(native.caller() ?? ""));
  globalThis.global = globalThis;
  cache["metier:native"] = { exports: native };
  // The entry for skills that are written for pipes.
  globalThis[Symbol.for("metier.engine")] = (skill) => load("metier:engine")(skill);
  // A file's handler can be the argument of `runHook` of `openclaw/hooks`.
  globalThis[Symbol.for("metier.hooks")] = (handler) => void (native.handler = handler);
  // `await` is not affected by a script's changes of promises.
  return { load, call: async (code, ...given) => await code(...given) };
})
