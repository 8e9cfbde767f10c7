import { setFlagsFromString } from "node:v8";

/**
 * Runs `load` so that V8 never optimizes the WebAssembly modules compiled in it. The V8 of Node 20 would compile the grammar's
 * largest functions for a second of processor time once they were called, which holds up the event loop of a process with a
 * processor or less, and the end of the process. Later versions take a tenth of that, and do without this.
 */
export async function compileSimply<T>(load: () => Promise<T>): Promise<T> {
  if (Number.parseInt(process.versions.v8, 10) >= FAST_V8) return load();
  // A module keeps the tiers it was created with. The second flag applies only to modules without dynamic tiers.
  setFlagsFromString("--no-wasm-dynamic-tiering");
  setFlagsFromString("--no-wasm-tier-up");
  try {
    return await load();
  } finally {
    setFlagsFromString("--wasm-dynamic-tiering");
  }
}

/** Major version of the V8 of Node 22. */
const FAST_V8 = 12;
