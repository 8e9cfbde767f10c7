import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ChainHead } from "./chain.js";
import { readHead } from "./head-file.js";
import { MAX_AUDIT_RECORD_BYTES } from "./limits.js";
import { type ChainCheck, ChainVerifier } from "./verify.js";

/** The files of a log, oldest first: the rotated ones, then the current one. */
export async function listAuditFiles(file: string): Promise<string[]> {
  const name = basename(file);
  const rotated = (await readdir(dirname(file)))
    .filter((one) => one.startsWith(`${name}.`))
    .flatMap((one) => {
      const [, seq, count = "0"] = /^(\d+)(?:-(\d+))?$/.exec(one.slice(name.length + 1)) ?? [];
      return seq === undefined ? [] : [{ path: join(dirname(file), one), seq: Number(seq), count: Number(count) }];
    })
    .sort((a, b) => a.seq - b.seq || a.count - b.count);
  return [...rotated.map(({ path }) => path), file];
}

/** One line without its end; `isOpen` when the file ends before the line does. */
export interface AuditLine {
  text: string;
  isOpen: boolean;
}

/** Yields the lines of a file; a line far longer than any record is yielded in pieces. */
export async function* readAuditLines(file: string): AsyncGenerator<AuditLine> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(LINE_END); end >= 0; end = rest.indexOf(LINE_END, start)) {
      yield { text: rest.toString("utf8", start, end), isOpen: false };
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length <= LONGEST_LINE_BYTES) continue;
    yield { text: rest.toString("utf8"), isOpen: false };
    rest = Buffer.alloc(0);
  }
  if (rest.length > 0) yield { text: rest.toString("utf8"), isOpen: true };
}

const LINE_END = 0x0a;
const LONGEST_LINE_BYTES = 64 * MAX_AUDIT_RECORD_BYTES;

/** Result of `verifyAuditFiles`. */
export interface AuditFiles {
  check: ChainCheck;
  /** The file in which the check ended. */
  file: string;
  files: readonly string[];
}

/**
 * Verifies the chain of a log over all its files, and that it contains `knownHead`; default is the head saved next to the file.
 * @throws Error for a file that cannot be read
 */
export async function verifyAuditFiles(file: string, knownHead?: ChainHead): Promise<AuditFiles> {
  const files = await listAuditFiles(file);
  const verifier = new ChainVerifier(knownHead ?? (await readHead(file)));
  for (const one of files) {
    verifier.nextFile();
    for await (const { text, isOpen } of readAuditLines(one)) {
      if (isOpen && one === file) verifier.addTorn(text);
      else if (verifier.add(text)) continue;
      return { check: verifier.result, file: one, files };
    }
  }
  return { check: verifier.result, file, files };
}
