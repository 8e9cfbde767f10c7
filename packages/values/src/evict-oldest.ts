/**
 * Deletes the entries that were added first until at most `limit` are left, but none that is still in use: then more are left.
 * Returns the keys of those that were deleted.
 */
export function evictOldest<Key>(entries: Set<Key>, limit: number, isInUse?: (key: Key) => boolean): Key[];
export function evictOldest<Key, Value>(
  entries: Map<Key, Value>,
  limit: number,
  isInUse?: (key: Key, value: Value) => boolean,
): Key[];
export function evictOldest<Key, Value>(
  entries: { size: number; entries(): Iterable<[Key, Value]>; delete(key: Key): boolean },
  limit: number,
  isInUse: (key: Key, value: Value) => boolean = () => false,
): Key[] {
  const evicted: Key[] = [];
  if (entries.size <= limit) return evicted;
  for (const [key, value] of entries.entries()) {
    if (isInUse(key, value)) continue;
    entries.delete(key);
    evicted.push(key);
    if (entries.size <= limit) break;
  }
  return evicted;
}
