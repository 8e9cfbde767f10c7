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
