/**
 * Sets V8 up for a server of processes, which mostly waits and passes on output that is outside of the heap; see
 * docs/decisions/memory.md and binary-output.md.
 *
 * V8 lets the young generation grow to 32 MB under load, and the old one to about three times its live size before it
 * collects: here the former keeps its current size, and the latter grows by half. The V8 of Node 20 soon optimizes what runs often,
 * on other threads, which takes processors from the programs: here it waits until that has run fifteen times as often.
 */
export function tuneEngine(): void {
  // Loaded here: a static import would cost every start a millisecond.
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
  // Later versions have no such flag: they count calls, and first optimize in a cheaper way.
  if (process.versions.v8.startsWith("11.")) setFlagsFromString("--interrupt-budget=1000000");
}

/** Live heap size, in bytes, up to which a full collection (some 10 ms) is forced. Above it V8 chooses the time. */
const MAX_COLLECTED_HEAP_BYTES = 64 * 1024 * 1024;

export function collectGarbage(maxHeapBytes = MAX_COLLECTED_HEAP_BYTES): void {
  if (process.memoryUsage().heapUsed > maxHeapBytes) return;
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  // Only contexts created while the flag is set have the function.
  setFlagsFromString("--expose-gc");
  (process.getBuiltinModule("node:vm").runInNewContext("gc") as () => void)();
  setFlagsFromString("--no-expose-gc");
}
