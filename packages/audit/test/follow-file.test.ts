import { execFileSync } from "node:child_process";
import { appendFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AuditFollower, type ChainHead, encodeRecords, GENESIS, verifyAuditFiles } from "../src/index.js";
import { FOLLOWED_AUDIT_BYTES } from "../src/limits.js";

let directory: string;
let file: string;
let head: ChainHead;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "codex-follow-"));
  file = join(directory, "audit.jsonl");
  head = GENESIS;
});
afterEach(() => rm(directory, { recursive: true }));

function render(count: number): string {
  const events = Array.from({ length: count }, (_, index) => ({
    at: index,
    event: { type: "result" as const, call: `c${index}`, status: "success" as const },
  }));
  const made = encodeRecords(head, events);
  head = made.head;
  return made.text;
}

describe("following an audit log", () => {
  it("reads what was added, once", async () => {
    await writeFile(file, render(3));
    const follower = new AuditFollower(file);
    const seqs = async () => (await follower.read()).records.map(({ seq }) => seq);
    expect(await seqs()).toEqual([1, 2, 3]);
    expect(await seqs()).toEqual([]);
    const text = render(2);
    await appendFile(file, text.slice(0, -20));
    const cut = await follower.read();
    expect([cut.records.map(({ seq }) => seq), cut.check.kind]).toEqual([[4], "broken"]);
    await appendFile(file, text.slice(-20));
    const whole = await follower.read();
    expect([whole.records.map(({ seq }) => seq), whole.check]).toMatchObject([[5], { kind: "intact", head }]);
  });

  it("begins near the end of a long log, and goes on in the next file", async () => {
    await writeFile(file, render(30_000));
    const follower = new AuditFollower(file);
    const { records, check } = await follower.read();
    expect(records[0]!.seq).toBeGreaterThan(1);
    expect(records.at(-1)!.seq).toBe(30_000);
    expect(JSON.stringify(records).length).toBeLessThan(1.1 * FOLLOWED_AUDIT_BYTES);
    expect(check).toMatchObject({ kind: "intact", head, records: records.length });
    await rename(file, `${file}.1`);
    await writeFile(file, render(2));
    const next = await follower.read();
    expect([next.records.map(({ seq }) => seq), next.check.kind]).toEqual([[30_001, 30_002], "intact"]);
  });

  it("finds a changed record in what it reads", async () => {
    await writeFile(file, render(10));
    const follower = new AuditFollower(file);
    await follower.read();
    await appendFile(file, render(2).replace('"c0"', '"c9"'));
    expect((await follower.read()).check).toMatchObject({ kind: "broken", reason: expect.stringContaining("12") });
  });

  it.skipIf(process.platform === "win32")(
    "does not wait for a FIFO in the place of the log or of its head",
    async () => {
      execFileSync("mkfifo", [file]);
      await expect(new AuditFollower(file).read()).rejects.toThrow("it is a FIFO");
      await rm(file);
      await writeFile(file, render(1));
      execFileSync("mkfifo", [`${file}.head`]);
      expect((await new AuditFollower(file).read()).records).toHaveLength(1);
      expect((await verifyAuditFiles(file)).check).toMatchObject({ kind: "intact", records: 1 });
    },
  );
});
