// `node:fs` for handlers in Deno, with named exports: the module that `deno.ts` prepared.
import fs from "node:fs";
export * from "node:fs";
export default fs;
export const existsSync = (path) => fs.existsSync(path);
