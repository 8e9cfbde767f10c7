/** Mode of an entry that is a commit of another repository: a submodule. */
const GITLINK = 0xe000;

/** Bytes of an entry before the object id; the mode is the big-endian number at MODE. */
const FACTS_BYTES = 40;
const MODE = 24;

/**
 * The paths of the submodules in an index of git (gitformat-index(5), versions 2 to 4), relative to the working tree. Empty for what is
 * not an index, and without what a split index shares.
 * @param oidBytes length of an object id: 20, or 32 with SHA-256
 */
export function listGitlinks(index: Buffer, oidBytes: number): string[] {
  if (index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC") return [];
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (version < 2 || version > 4) return [];
  const found: string[] = [];
  let path: Buffer = Buffer.alloc(0);
  let at = 12;
  for (let entry = 0; entry < count; entry += 1) {
    const flags = at + FACTS_BYTES + oidBytes;
    if (flags + 4 > index.length) break;
    const isExtended = version > 2 && (index[flags]! & 0x40) !== 0;
    let from = flags + (isExtended ? 4 : 2);
    let kept = 0;
    if (version === 4) {
      // The path begins as that of the entry before, without so many bytes of its end.
      const { value, next } = readOffset(index, from);
      kept = Math.max(0, path.length - value);
      from = next;
    }
    const to = index.indexOf(0, from);
    if (to === -1) break;
    const isGitlink = index.readUInt32BE(at + MODE) === GITLINK;
    if (version === 4) path = Buffer.concat([path.subarray(0, kept), index.subarray(from, to)]);
    else if (isGitlink) path = index.subarray(from, to);
    if (isGitlink) found.push(path.toString());
    // Up to version 3, 1 to 8 null bytes make the length of an entry a multiple of 8.
    at = version === 4 ? to + 1 : at + ((to - at + 8) & ~7);
  }
  return found;
}

/** A number as in the offsets of pack files: seven bits a byte, the highest bit set in all but the last. */
function readOffset(bytes: Buffer, from: number): { value: number; next: number } {
  let at = from;
  let value = bytes[at]! & 0x7f;
  while ((bytes[at]! & 0x80) !== 0 && at + 1 < bytes.length) {
    at += 1;
    value = (value + 1) * 128 + (bytes[at]! & 0x7f);
  }
  return { value, next: at + 1 };
}
