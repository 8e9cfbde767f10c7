/**
 * V8 lets the space for new objects grow to 32 MB under load, and that for old ones to about three times of what is in use
 * before it collects. Not so from now on: the former stays as large as it is, the latter grows by half. Meant for a server
 * of processes, where what flows is not in there; see docs/decisions/memory.md.
 */
export function keepHeapSmall(): void {
  // Not imported: that would cost every start a millisecond.
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
}

/** Live memory of the heap, bytes, up to which all garbage is collected at once: some 10 ms. Beyond it V8 chooses the time. */
const MAX_COLLECTED_HEAP_BYTES = 64 * 1024 * 1024;

export function collectGarbage(maxHeapBytes = MAX_COLLECTED_HEAP_BYTES): void {
  if (process.memoryUsage().heapUsed > maxHeapBytes) return;
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  // The function exists in contexts that are made while the flag is set.
  setFlagsFromString("--expose-gc");
  (process.getBuiltinModule("node:vm").runInNewContext("gc") as () => void)();
  setFlagsFromString("--no-expose-gc");
}
