import { statSync } from "node:fs";
import { readPlainFileSync } from "@codex/plain-file";
import type { Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";

/** Options of `watchFile`. */
export interface WatchedFileOptions<T> {
  path: string;
  /** Maximum file size, bytes. */
  maxBytes: number;
  parse: (text: string) => T;
  log: Logger;
  /** Current time, milliseconds; the file is checked at most once a second. */
  now: () => number;
}

const CHECK_MS = 1000;

/**
 * The parsed content of a file, reloaded when it changes. If it becomes unreadable or invalid, that is logged and the previous
 * content is kept.
 * @throws Error naming the file, if its initial content is invalid
 */
export function watchFile<T>({ path, maxBytes, parse, log, now }: WatchedFileOptions<T>): () => T {
  const read = () => {
    const { size, mtimeMs, ino } = statSync(path);
    return { stamp: `${ino} ${size} ${mtimeMs}`, value: parse(String(readPlainFileSync(path, { maxBytes }))) };
  };
  let current: { stamp: string; value: T };
  try {
    current = read();
  } catch (cause) {
    throw new Error(`${path} cannot be used: ${messageOf(cause)}`, { cause });
  }
  let checkedAt = now();
  let failed = "";
  return () => {
    if (now() - checkedAt < CHECK_MS) return current.value;
    checkedAt = now();
    try {
      const { size, mtimeMs, ino } = statSync(path);
      const stamp = `${ino} ${size} ${mtimeMs}`;
      if (stamp === current.stamp || stamp === failed) return current.value;
      failed = stamp;
      current = read();
      log.info?.("file reloaded", { path });
    } catch (error) {
      log.error?.("file cannot be used; its previous content is kept", { path, reason: messageOf(error) });
    }
    return current.value;
  };
}
