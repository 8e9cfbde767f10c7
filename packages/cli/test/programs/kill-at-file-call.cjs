/**
 * Preloaded with `--require`: kills this process, with SIGKILL, before one of the calls that change a file below
 * `KILL_BELOW`. `KILL_AT`: its number, from 0. Each call is noted in `KILL_NOTES` before it is made.
 */
const { appendFileSync } = require("node:fs");
const files = require("node:fs/promises");
const { syncBuiltinESMExports } = require("node:module");

const { KILL_AT, KILL_BELOW, KILL_NOTES } = process.env;
const OPEN_WRITES = 3; // O_WRONLY | O_RDWR
let calls = 0;

function arrive(name, path) {
  appendFileSync(KILL_NOTES, `${name} ${path.slice(KILL_BELOW.length + 1)}\n`);
  if (calls === Number(KILL_AT)) process.kill(process.pid, "SIGKILL");
  calls += 1;
}

const isBelow = (path) => typeof path === "string" && path.startsWith(`${KILL_BELOW}/`) && !path.includes("/.git/");

const { open } = files;
files.open = async (path, flags, ...more) => {
  const isWritten = isBelow(String(path)) && typeof flags === "number" && (flags & OPEN_WRITES) !== 0;
  if (isWritten) arrive("open", String(path));
  const file = await open(path, flags, ...more);
  if (!isWritten) return file;
  for (const name of ["write", "truncate", "chmod", "chown"]) {
    const original = file[name];
    file[name] = (...args) => {
      arrive(name, String(path));
      return original.apply(file, args);
    };
  }
  return file;
};
for (const name of ["rename", "link", "symlink", "unlink", "rmdir", "mkdir", "copyFile", "chmod"]) {
  const original = files[name];
  files[name] = (...args) => {
    const path = args.slice(0, 2).map(String).findLast(isBelow);
    if (path !== undefined) arrive(name, path);
    return original.apply(files, args);
  };
}
syncBuiltinESMExports();
