import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

/**
 * Runs `open` while the lowest descriptors are occupied, so that it gets a higher one. When a process is killed, Linux closes its
 * descriptors from highest to lowest: a listener above its connections is gone before their peers can reconnect. Otherwise
 * their connection would be closed without a response, which Codex clients do not retry; they do retry a refused one.
 * @param count how many descriptors to leave free below; fewer if the process's limit is lower
 */
export async function openAbove<T>(count: number, open: () => Promise<T>): Promise<T> {
  const taken: number[] = [];
  try {
    while (taken.length < count) taken.push(openSync(devNull, "r"));
  } catch {
    // The limit is reached: free the ones that are needed next.
    for (const descriptor of taken.splice(-SPARE_DESCRIPTORS)) closeSync(descriptor);
  }
  try {
    return await open();
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
  }
}

const SPARE_DESCRIPTORS = 64;
