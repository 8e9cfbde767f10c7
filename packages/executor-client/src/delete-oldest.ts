/** Deletes the entries that were added first, until at most `limit` are left. */
export function deleteOldest<Key>(entries: Set<Key> | Map<Key, unknown>, limit: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= limit) return;
    entries.delete(key);
  }
}
