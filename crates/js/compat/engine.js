// Replaces pipes for `serve` of `sdk/typescript/metier.ts`: the skill is passed to the engine, which calls it and answers its
// requests synchronously.
"use strict";
const native = require("metier:native");

module.exports = ({ Host, HostError, Wrong, answer }) => {
  const host = new Host({
    async ask(method, params) {
      try {
        return JSON.parse(native.ask(method, JSON.stringify(params)));
      } catch (error) {
        throw error.rpc === undefined ? error : new HostError(error.rpc, error.message, error.data);
      }
    },
    // Only log lines are sent without a request.
    send: ({ params: { level, message } }) => native.log(level, `${message}`.toWellFormed()),
  });
  native.answer = async (method, params) => {
    try {
      return { result: await answer(host, method, params) };
    } catch (error) {
      if (error instanceof Wrong) return { error: { code: error.code, message: error.message } };
      throw error;
    }
  };
};
