import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createAuditLog, createFileSink, verifyAuditFiles } from "@codex/audit";
import { findSmallDiskProblem, openSmallDisk, type SmallDisk } from "@codex/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { saveAllowRule } from "../../policy/src/rules/save-rule.js";

const problem = findSmallDiskProblem();

describe.skipIf(problem !== undefined)(`a disk that is full${problem === undefined ? "" : ` (${problem})`}`, () => {
  let disk: SmallDisk;
  beforeEach(async () => {
    disk = await openSmallDisk(64 * 1024);
  });
  afterEach(() => disk.close());

  it("costs an audit log records, which it counts; its chain stays whole", async () => {
    const file = join(disk.path, "audit.jsonl");
    const problems: string[] = [];
    const log = createAuditLog({ sink: createFileSink(file), onProblem: (message) => problems.push(message) });
    const record = (call: string) => log.record({ type: "call", call, tool: "exec_command", runs: true });
    await record("one");
    disk.fill();
    let written = 0;
    // The last page of the file has room for some.
    for (let index = 0; index < 100; index += 1) {
      await record(`full ${index}`).then(
        () => {
          written += 1;
        },
        () => {},
      );
    }
    disk.free();
    await record("two");
    expect(problems).toEqual([expect.stringMatching(/^the audit log cannot be written: \/.*: ENOSPC: /)]);
    const { check } = await verifyAuditFiles(file);
    expect(check).toMatchObject({ kind: "intact", torn: 0, lost: 100 - written, records: written + 3 });
    expect(readdirSync(disk.path).sort()).toEqual(["audit.jsonl", "audit.jsonl.head"]);
  });

  it("takes a rule whole or not at all", async () => {
    const file = join(disk.path, "default.rules");
    const rule = (index: number) => ({
      words: ["echo", String(index).padStart(3_000, "x")],
      keepsSandbox: false,
    });
    await saveAllowRule(file, rule(0));
    const before = readFileSync(file, "utf8");
    disk.fill();
    const reason = /default\.rules.*: ENOSPC: no space left on device/;
    await expect(saveAllowRule(file, rule(1))).rejects.toThrow(reason);
    expect(readFileSync(file, "utf8")).toBe(before);
    disk.free();
    expect(await saveAllowRule(file, rule(1))).toBe(true);
    expect(readdirSync(disk.path)).toEqual(["default.rules"]);
  });
});
