import { statSync } from "node:fs";
import { readNamedFileSync } from "./plain-file.js";

/** Options of `watchFiles`. */
export interface WatchedFiles<T> {
  paths: readonly string[];
  /** Maximum size of each, bytes. */
  maxBytes: number;
  /** Of the texts, in the order of the paths. A throw means that they cannot be used. */
  parse: (...texts: string[]) => T;
  log: WatchLog;
  /** Current time, milliseconds; the files are checked at most once a second. */
  now?: () => number;
}

/** Told what has happened to the files. */
export interface WatchLog {
  info?: ((message: string, fields: { path: string }) => void) | undefined;
  error?: ((message: string, fields: { path: string; reason: string }) => void) | undefined;
}

const CHECK_MS = 1000;

/**
 * What files contain, read again when one of them has changed. If they become unreadable or invalid, that is logged and what they contained
 * is kept.
 * @throws Error naming the files, if they cannot be used at first
 */
export function watchFiles<T>({ paths, maxBytes, parse, log, now = Date.now }: WatchedFiles<T>): () => T {
  const path = paths.join(", ");
  const stampOf = () =>
    paths
      .map((each) => {
        const { size, mtimeMs, ino } = statSync(each);
        return `${ino} ${size} ${mtimeMs}`;
      })
      .join();
  const read = () => {
    const stamp = stampOf();
    return { stamp, value: parse(...paths.map((each) => String(readNamedFileSync(each, { maxBytes })))) };
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
      const stamp = stampOf();
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

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
