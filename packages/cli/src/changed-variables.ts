import { isUtf8 } from "node:buffer";
import { readFileSync, writeSync } from "node:fs";

/**
 * Says on stderr which variables are not UTF-8: Node has replaced bytes of their values, and every program started here gets
 * them so. Linux only: elsewhere the bytes are not to be had.
 */
export function reportChangedVariables(): void {
  const isReplaced = Object.entries(process.env).some(([name, value]) => `${name}${value}`.includes("\ufffd"));
  if (!isReplaced || process.platform !== "linux") return;
  try {
    for (const name of listChanged(readFileSync("/proc/self/environ"))) {
      writeSync(2, `codex: variable ${JSON.stringify(name)} is not UTF-8: programs get it with U+FFFD in it\n`);
    }
  } catch {
    // No /proc, or nobody reads stderr.
  }
}

/** Names of the variables in a block of `NAME=value` entries, each of which ends with a zero byte. */
function listChanged(block: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at < block.length; ) {
    const end = block.indexOf(0, at);
    const to = end < 0 ? block.length : end;
    const entry = block.subarray(at, to);
    if (!isUtf8(entry)) names.push(entry.toString().split("=", 1)[0] ?? "");
    at = to + 1;
  }
  return names;
}
