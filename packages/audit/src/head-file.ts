import { openOutputFile } from "@codex/file-lock";
import { readPlainFile } from "@codex/plain-file";
import type { ChainHead } from "./chain.js";

const LENGTH_BYTES = 128;

/** The head that was saved next to the file; undefined when it is missing or unreadable. */
export async function readHead(file: string): Promise<ChainHead | undefined> {
  try {
    const { seq, hash } = JSON.parse(
      String(await readPlainFile(`${file}.head`, { maxBytes: LENGTH_BYTES })),
    ) as Partial<Record<string, unknown>>;
    return typeof seq === "number" && typeof hash === "string" ? { seq, hash } : undefined;
  } catch {
    return undefined;
  }
}

/** Saves the head, always in the same length so that one write replaces it. Failing to write it is not an error. */
export async function writeHead(file: string, { seq, hash }: ChainHead): Promise<void> {
  try {
    const handle = await openOutputFile(`${file}.head`, { flags: "r+" }).catch(() =>
      openOutputFile(`${file}.head`, { mode: 0o600 }),
    );
    try {
      await handle.write(`${JSON.stringify({ seq, hash }).padEnd(LENGTH_BYTES - 1)}\n`, 0);
    } finally {
      await handle.close();
    }
  } catch {
    // The chain is valid without it.
  }
}
