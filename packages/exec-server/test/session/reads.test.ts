import { describe, expect, it } from "vitest";
import { paramsOf, type RawClient, useServer } from "../support.js";

interface Chunk {
  seq: number;
  chunk: string;
}

interface Page {
  chunks: Chunk[];
  nextSeq: number;
  closed: boolean;
  truncatedBefore?: number;
  bytesBefore?: number;
}

const WRITTEN = 9_000_000;
const sizeOf = ({ chunk }: Chunk): number => Buffer.from(chunk, "base64").length;
const pushedTo = (client: RawClient): Chunk[] =>
  client
    .eventsOf("p")
    .filter(({ method }) => method === "process/output")
    .map((event) => paramsOf(event) as unknown as Chunk);

/** Reads pages until one is empty. */
async function poll(client: RawClient, afterSeq: number, maxBytes: number | undefined): Promise<Page[]> {
  const pages: Page[] = [];
  for (let after = afterSeq; ; after = pages.at(-1)!.nextSeq - 1) {
    const params = { processId: "p", afterSeq: after, ...(maxBytes === undefined ? {} : { maxBytes }) };
    const page = await client.ask<Page>("process/read", params);
    if (page.chunks.length === 0) return pages;
    pages.push(page);
  }
}

/** Reproducible numbers from 0 to 1. */
function* randoms(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

describe.each([
  { on: "pipes", script: `seq 1 2000000 | head -c ${WRITTEN}`, more: {} },
  { on: "a terminal", script: `stty -opost; seq 1 2000000 | head -c ${WRITTEN}`, more: { tty: true } },
])("more output than is retained, on $on", ({ script, more }) => {
  const server = useServer();

  it.each([
    { state: "ended", end: "" },
    { state: "running", end: "; read line" },
  ])(
    "is read from any number with any limit: each retained chunk once, and what is missing is named ($state)",
    async ({ state, end }) => {
      const client = await server.ready();
      await client.start("p", ["sh", "-c", script + end], { pipeStdin: true, ...more });
      if (state === "ended") await client.untilEvent("process/closed", "p");
      await client.until(() => pushedTo(client).reduce((sum, chunk) => sum + sizeOf(chunk), 0) === WRITTEN);
      const pushed = pushedTo(client);
      const last = pushed.at(-1)!.seq;
      const [first] = (await poll(client, 0, 0))[0]!.chunks;
      expect(first!.seq).toBeGreaterThan(1);
      const random = randoms(7);
      const next = (most: number) => Math.floor(random.next().value! * most);
      const limits = [65_536, undefined, 1_000_000, ...Array.from({ length: 4 }, () => 30_000 + next(3_000_000))];
      const starts = [0, 1, first!.seq - 2, first!.seq - 1, first!.seq, last - 1, last, last + 5, next(last)];
      for (const [index, afterSeq] of starts.entries()) {
        const maxBytes = limits[index % limits.length];
        const pages = await poll(client, afterSeq, maxBytes);
        const wanted = pushed.filter(({ seq }) => seq > afterSeq && seq >= first!.seq);
        expect(pages.flatMap(({ chunks }) => chunks.map(({ seq }) => seq))).toEqual(wanted.map(({ seq }) => seq));
        for (const { chunks } of pages.filter(({ chunks }) => chunks.length > 1)) {
          const bytes = chunks.reduce((sum, chunk) => sum + sizeOf(chunk), 0);
          expect(bytes).toBeLessThanOrEqual(maxBytes ?? WRITTEN);
        }
        const isCut = afterSeq < first!.seq - 1;
        const before = pushed.filter(({ seq }) => seq < first!.seq).reduce((sum, chunk) => sum + sizeOf(chunk), 0);
        expect(pages[0]?.truncatedBefore).toBe(isCut ? first!.seq : undefined);
        expect(pages[0]?.bytesBefore).toBe(isCut ? before : undefined);
        expect(pages.slice(1).every(({ truncatedBefore }) => truncatedBefore === undefined)).toBe(true);
      }
    },
  );
});
