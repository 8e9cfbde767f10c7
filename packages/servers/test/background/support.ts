import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { openSocketPlace, type SocketPlace } from "../../src/background/socket-place.js";

/** Creates directories that are removed after the test. */
export function useDirectories(): () => string {
  const made: string[] = [];
  afterEach(() => {
    for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
  });
  return () => {
    const directory = mkdtempSync(join(tmpdir(), "bg-"));
    made.push(directory);
    return directory;
  };
}

/** A place in a directory of the test. */
export const placeIn = (directory: string): SocketPlace =>
  openSocketPlace("server", { env: { XDG_RUNTIME_DIR: directory } });
