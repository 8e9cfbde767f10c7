/**
 * V8 lets the young generation grow to 32 MB under load, and the old one to about three times its live size before it
 * collects. This keeps the former at its current size and lets the latter grow by half. For a server of processes, whose
 * output buffers are outside of the heap; see docs/decisions/memory.md.
 */
export function keepHeapSmall(): void {
  // Loaded here: a static import would cost every start a millisecond.
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
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
