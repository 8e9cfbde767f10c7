/**
 * V8 lets the young generation grow to 32 MB under load, and the old one to about three times its live size before it
 * collects. This keeps the former at its current size and lets the latter grow by half. For a server of processes, whose
 * output buffers are outside of the heap; see docs/decisions/memory.md.
 */
export function keepHeapSmall(): void {
  setFlag("--semi-space-growth-factor=1");
  setFlag("--heap-growing-percent=50");
}

/** Milliseconds after the beginning of a flood; one that lasts longer is worth optimized code. */
const FLOOD_START_MS = 2_000;

/** How much bytecode a function runs until V8 considers to optimize it, in Node 20; later versions count calls and have no such flag. */
const INTERRUPT_BUDGET = { usual: 67_584, inFlood: 1_000_000 };

/**
 * To be called when a program begins to flood. V8 then optimizes what has become hot on threads of its own, which takes processors
 * from the program and the client just when they need them: in Node 20 it does so later now.
 */
export function createFloodTuning(set = setFlag, floodStartMs = FLOOD_START_MS): () => void {
  let begun = false;
  return () => {
    if (begun || !process.versions.v8.startsWith("11.3.")) return;
    begun = true;
    set(`--interrupt-budget=${INTERRUPT_BUDGET.inFlood}`);
    const end = () => {
      begun = false;
      set(`--interrupt-budget=${INTERRUPT_BUDGET.usual}`);
    };
    setTimeout(end, floodStartMs).unref();
  };
}

/** Loads the module on demand: a static import would cost every start a millisecond. */
function setFlag(flag: string): void {
  process.getBuiltinModule("node:v8").setFlagsFromString(flag);
}

/** Live heap size, in bytes, up to which a full collection (some 10 ms) is forced. Above it V8 chooses the time. */
const MAX_COLLECTED_HEAP_BYTES = 64 * 1024 * 1024;

export function collectGarbage(maxHeapBytes = MAX_COLLECTED_HEAP_BYTES): void {
  if (process.memoryUsage().heapUsed > maxHeapBytes) return;
  // Only contexts created while the flag is set have the function.
  setFlag("--expose-gc");
  (process.getBuiltinModule("node:vm").runInNewContext("gc") as () => void)();
  setFlag("--no-expose-gc");
}
