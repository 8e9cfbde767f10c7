import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * Takes the variables that look like secrets out of /proc/PID/environ, where every program of the same user
 * could read them. `process.env` keeps them. Linux only; elsewhere, and where /proc does not allow it, nothing changes
 * (docs/security.md).
 */
export function concealEnvironment(isSecret: (name: string) => boolean): void {
  if (process.platform !== "linux") return;
  try {
    overwriteSecrets(isSecret);
  } catch {
    // No /proc, or one that does not let a process write to itself.
  }
}

function overwriteSecrets(isSecret: (name: string) => boolean): void {
  const secrets = findSecrets(readFileSync("/proc/self/environ"), isSecret);
  if (secrets.length === 0) return;
  const start = readEnvironmentStart();
  if (start === 0) return;
  const memory = openSync("/proc/self/mem", "r+");
  try {
    for (const { name, from, to } of secrets) {
      // The C library copies what is set; this process reads the copy from now on.
      const value = process.env[name];
      if (value === undefined) continue;
      process.env[name] = "";
      process.env[name] = value;
      writeSync(memory, Buffer.alloc(to - from), 0, to - from, start + from);
    }
  } finally {
    closeSync(memory);
  }
}

/** Ranges of the secrets in a block of `NAME=value` entries, each of which ends with a zero byte. */
function findSecrets(block: Buffer, isSecret: (name: string) => boolean) {
  const found: { name: string; from: number; to: number }[] = [];
  for (let at = 0; at < block.length; ) {
    const end = block.indexOf(0, at);
    const to = end < 0 ? block.length : end;
    const equals = block.indexOf("=", at);
    const name = equals < 0 || equals > to ? "" : block.toString("utf8", at, equals);
    if (name !== "" && isSecret(name)) found.push({ name, from: at, to });
    at = to + 1;
  }
  return found;
}

/** `env_start`, the 50th field of proc_pid_stat(5); 0 when it is hidden. */
function readEnvironmentStart(): number {
  const stat = readFileSync("/proc/self/stat", "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[50 - 3] ?? 0);
}

/** The names that the default policy leaves out; checked against it by a test. */
export const looksSecret = (name: string): boolean => /KEY|SECRET|TOKEN/i.test(name);
