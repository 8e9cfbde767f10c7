import type { FileHandle } from "node:fs/promises";
import { openPlainFile } from "@codex/plain-file";
import { type AuditRecord, parseRecord } from "./chain.js";
import { readHead } from "./head-file.js";
import { FOLLOWED_AUDIT_BYTES } from "./limits.js";
import { type ChainCheck, ChainVerifier } from "./verify.js";

/** What a log has got since it was read last, and whether the chain of what was read is intact. */
export interface FollowedAudit {
  records: AuditRecord[];
  check: ChainCheck;
}

/**
 * Reads the newest records of a log, and then those that are added: each read takes time in proportion to what is new, at most
 * `FOLLOWED_AUDIT_BYTES`. Only `verifyAuditFiles` verifies the whole chain, with the rotated files.
 */
export class AuditFollower {
  readonly #file: string;
  #verifier = new ChainVerifier(undefined, "anywhere");
  #inode: number | undefined;
  /** Offset of the first line that was not read to its end. */
  #at = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws Error for a file that cannot be read */
  async read(): Promise<FollowedAudit> {
    // Before the records: those of a later head may be there already.
    const head = await readHead(this.#file);
    const handle = await openPlainFile(this.#file);
    try {
      const { size, ino } = await handle.stat();
      if (ino !== this.#inode || size < this.#at || size - this.#at > FOLLOWED_AUDIT_BYTES)
        await this.#restart(handle, size, ino);
      const { records, rest } = this.#take(await readRange(handle, this.#at, size));
      const { result } = this.#verifier;
      if (result.kind === "broken") return { records, check: result };
      if (head !== undefined && head.seq > result.head.seq && rest === 0) {
        const reason = `it ends with record ${result.head.seq}, and record ${head.seq} is known to have been there`;
        return { records, check: { kind: "broken", line: 0, reason } };
      }
      if (rest === 0) return { records, check: result };
      const reason = `the file ends in the middle of a record (${rest} bytes of it); the next one will be marked`;
      return { records, check: { kind: "broken", line: 0, reason } };
    } finally {
      await handle.close();
    }
  }

  /** Begins with the first whole line near the end of the file. */
  async #restart(handle: FileHandle, size: number, inode: number): Promise<void> {
    this.#verifier = new ChainVerifier(undefined, "anywhere");
    this.#inode = inode;
    this.#at = Math.max(0, size - FOLLOWED_AUDIT_BYTES);
    if (this.#at === 0) return;
    const end = (await readRange(handle, this.#at - 1, size)).indexOf(LINE_END);
    this.#at = end === -1 ? size : this.#at + end;
  }

  #take(bytes: Buffer): { records: AuditRecord[]; rest: number } {
    const records: AuditRecord[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
      const line = bytes.toString("utf8", start, end);
      start = end + 1;
      this.#verifier.add(line);
      const record = parseRecord(line);
      if (record !== undefined) records.push(record);
    }
    this.#at += start;
    return { records, rest: bytes.length - start };
  }
}

const LINE_END = 0x0a;

async function readRange(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, to - from));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
  return bytes.subarray(0, bytesRead);
}
