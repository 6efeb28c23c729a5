// `node:os` for handlers in Deno, with named exports: the module that `deno.ts` prepared.
import os from "node:os";
export * from "node:os";
export default os;
export const cpus = () => os.cpus();
export const freemem = () => os.freemem();
export const homedir = () => os.homedir();
export const hostname = () => os.hostname();
export const release = () => os.release();
export const tmpdir = () => os.tmpdir();
export const totalmem = () => os.totalmem();
export const userInfo = () => os.userInfo();
