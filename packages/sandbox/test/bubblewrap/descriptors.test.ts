import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNative } from "@codex/native";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPlaceholders } from "../../src/bubblewrap/placeholder.js";
import { createCommandSandbox } from "../../src/command-sandbox.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict } from "../support.js";

const countOpen = () => readdirSync("/proc/self/fd").length;

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`the descriptors of sandboxes (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  let base: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "codex-descriptors-")));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it("that keep the same names free are shared, and closed with the last", async () => {
    const placeholders = createPlaceholders(createNative());
    const names = Array.from({ length: 20 }, (_, index) => join(base, `n${index}`));
    const holdAll = () => Promise.all(names.map((name) => placeholders.hold(name, "directory")));
    const before = countOpen();
    const first = await holdAll();
    expect(countOpen()).toBe(before + names.length + 1);
    const second = await holdAll();
    expect(countOpen()).toBe(before + names.length + 1);
    for (const held of first) await held!.release();
    expect(readdirSync(base)).toHaveLength(names.length);
    for (const held of second) await held!.release();
    expect([readdirSync(base), countOpen()]).toEqual([[], before]);
  });

  it("that keep a name free are not those of a directory that was replaced", async () => {
    const placeholders = createPlaceholders(createNative());
    const around = join(base, "around");
    mkdirSync(around);
    const first = await placeholders.hold(join(around, "n"), "directory");
    rmSync(around, { recursive: true });
    mkdirSync(around);
    const second = await placeholders.hold(join(around, "n"), "directory");
    expect(readdirSync(around)).toEqual(["n"]);
    await first!.release();
    expect(readdirSync(around)).toEqual(["n"]);
    await second!.release();
    expect(readdirSync(around)).toEqual([]);
  });

  it("a name that another sandbox is slow to release is waited for", async () => {
    const native = createNative();
    const name = join(base, "n");
    mkdirSync(name);
    const other = openSync(name, "r");
    expect(native.lock(other, "exclusive")).toBe(true);
    setTimeout(() => {
      rmdirSync(name);
      closeSync(other);
    }, 400);
    const held = await createPlaceholders(native).hold(name, "directory");
    expect(readdirSync(base)).toEqual(["n"]);
    await held!.release();
    expect(readdirSync(base)).toEqual([]);
  });

  it("of one start are closed before the next start opens its own", async () => {
    const sandbox = createCommandSandbox();
    for (let index = 0; index < 50; index += 1) mkdirSync(join(base, `d${index}`));
    const entries = Array.from({ length: 50 }, (_, index) => entry(join(base, `d${index}`), "write"));
    const wrap = async () => {
      const command = { argv: ["true"], file: "/bin/true", cwd: "/", env: {}, session: "new" } as const;
      const wrapped = (await sandbox.wrap(command, restrict([READ_ALL, ...entries])))!;
      const most = countOpen();
      wrapped.detach();
      await wrapped.release();
      return most;
    };
    const alone = await wrap();
    const together = await Promise.all(Array.from({ length: 8 }, wrap));
    // Each has its own status and placeholders, but not its own sources.
    expect(Math.max(...together) - alone).toBeLessThan(50);
  });
});
