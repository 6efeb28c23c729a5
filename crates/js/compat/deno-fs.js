// `node:fs` for handlers in Deno, also for those who import single functions: what `deno.ts` put into it.
import fs from "node:fs";
export * from "node:fs";
export default fs;
export const existsSync = (path) => fs.existsSync(path);
