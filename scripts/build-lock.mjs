import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/**
 * Waits until no other process builds, and holds the lock until this process ends. The lock of a process that was killed is taken over.
 * @param file holds the id of the process that builds
 */
export async function lockBuild(file) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, `${process.pid}`);
  process.on("exit", () => rmSync(own, { force: true }));
  for (;;) {
    try {
      linkSync(own, file);
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const owner = readOwner(file);
    if (owner !== undefined && !isRunning(owner)) takeAway(file, owner, `${own}.old`);
    else await wait(200);
  }
  process.on("exit", () => rmSync(file, { force: true }));
  // Node runs no listeners of `exit` when one of these ends it.
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])
    process.once(signal, () => process.exit(code));
}

/** Removes the lock of a process that has ended, unless another one has taken it in the meantime. */
function takeAway(file, owner, aside) {
  try {
    renameSync(file, aside);
    if (readOwner(aside) !== owner) linkSync(aside, file);
    rmSync(aside);
    rmSync(`${file}.${owner}`, { force: true });
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  }
}

function readOwner(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function isRunning(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
