import type { FileHandle } from "node:fs/promises";
import { type ChainHead, GENESIS, parseRecord, sha256 } from "./chain.js";
import { AUDIT_TAIL_BYTES } from "./limits.js";

/** The end of a file. */
export interface Tail {
  /** The last record. */
  head: ChainHead;
  /** The text after it that is not a record. */
  torn: { bytes: number; sha256: string } | undefined;
  /** The file does not end with a line end. */
  isOpen: boolean;
}

/** @throws Error when the file has something other than records, or its last record is too far from the end */
export async function findTail(handle: FileHandle, file: string, size: number): Promise<Tail> {
  if (size === 0) return { head: GENESIS, torn: undefined, isOpen: false };
  const from = Math.max(0, size - AUDIT_TAIL_BYTES);
  const bytes = Buffer.alloc(size - from);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
  const text = bytes.subarray(0, bytesRead);
  const isOpen = text.at(-1) !== LINE_END;
  for (let end = text.lastIndexOf(LINE_END); end >= 0; ) {
    const start = end === 0 ? 0 : text.lastIndexOf(LINE_END, end - 1) + 1;
    // The first line of a partial read may lack its beginning.
    const line = text.toString("utf8", start, end);
    const record = start === 0 && from > 0 ? undefined : parseRecord(line);
    if (record !== undefined) {
      return {
        head: { seq: record.seq, hash: sha256(line) },
        torn: describeTorn(text.subarray(end + 1), isOpen),
        isOpen,
      };
    }
    end = start - 1;
  }
  const isFirst = from === 0 && text.toString("latin1", 0, BEGINNING.length) === BEGINNING.slice(0, text.length);
  if (isFirst) return { head: GENESIS, torn: describeTorn(text, isOpen), isOpen };
  throw new Error(
    `${file}: there is no audit record at its end (within ${AUDIT_TAIL_BYTES} bytes); move the file away`,
  );
}

const LINE_END = 0x0a;
/** The first bytes of a chain. */
const BEGINNING = '{"v":1,"seq":1,';

function describeTorn(text: Buffer, isOpen: boolean): Tail["torn"] {
  if (text.length === 0) return undefined;
  const whole = isOpen ? text : text.subarray(0, -1);
  return { bytes: whole.length, sha256: sha256(whole) };
}
