import { readFileSync, statSync } from "node:fs";
import { type Logger, messageOf } from "@codex/telemetry";

/** Options of `watchFile`. */
export interface WatchedFileOptions<T> {
  path: string;
  /** Largest file that is read. */
  maxBytes: number;
  parse: (text: string) => T;
  log: Logger;
  /** Milliseconds; the file is looked at once a second at most. */
  now: () => number;
}

const CHECK_MS = 1000;

/**
 * The parsed content of a file, read again once it has changed. A file that became unreadable or wrong is logged, and what was
 * read before stays.
 * @throws Error naming the file, where its first content cannot be used
 */
export function watchFile<T>({ path, maxBytes, parse, log, now }: WatchedFileOptions<T>): () => T {
  const read = () => {
    const { size, mtimeMs, ino } = statSync(path);
    if (size > maxBytes) throw new Error(`it has ${size} bytes, more than ${maxBytes}`);
    return { stamp: `${ino} ${size} ${mtimeMs}`, value: parse(readFileSync(path, "utf8")) };
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
      log.info?.("file read again", { path });
    } catch (error) {
      log.error?.("file cannot be used, its previous content stays", { path, reason: messageOf(error) });
    }
    return current.value;
  };
}
