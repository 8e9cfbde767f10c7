import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

/**
 * Runs `open` while the lowest descriptors are taken, so that it gets a higher one. When a process is killed Linux closes its
 * descriptors from the highest to the lowest: a listener above its connections is gone before their peers can connect again. They
 * would get a connection that is closed without an answer, which is final for clients of Codex; a refused one they repeat.
 * @param count how many descriptors to leave below; fewer where the process may not have so many
 */
export async function openAbove<T>(count: number, open: () => Promise<T>): Promise<T> {
  const taken: number[] = [];
  try {
    while (taken.length < count) taken.push(openSync(devNull, "r"));
  } catch {
    // There are no more: those that are needed next are set free.
    for (const descriptor of taken.splice(-SPARE_DESCRIPTORS)) closeSync(descriptor);
  }
  try {
    return await open();
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
}

const SPARE_DESCRIPTORS = 64;
