import { closeSync, openSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { AgentFiles } from "@codex/file-tools";
import { describe, expect, it } from "vitest";
import { type Entry, useHost } from "../../host.js";
import { createPatchTool, patchOf } from "./support.js";

const change = (path: string, from: string, to: string) => [`*** Update File: ${path}`, "@@", `-${from}`, `+${to}`];
const move = (path: string, target: string, from: string, to: string) => [
  `*** Update File: ${path}`,
  `*** Move to: ${target}`,
  "@@",
  `-${from}`,
  `+${to}`,
];

/** One of everything, and what it leaves behind. */
const BEFORE: Record<string, Entry> = { "e.txt": "one\ntwo\n", "g.txt": "bye\n", "o.txt": "x\n", "r.txt": "old\n" };
const PATCH = [
  "*** Add File: n/m/n.txt",
  "+hello",
  ...change("e.txt", "two", "TWO"),
  "*** Delete File: g.txt",
  ...move("o.txt", "q/o.txt", "x", "y"),
  "*** Add File: r.txt",
  "+new",
];
const AFTER: Record<string, Entry> = {
  "e.txt": "one\nTWO\n",
  "n/m/n.txt": "hello\n",
  "q/o.txt": "y\n",
  "r.txt": "new\n",
};

/** Files of a host that tells no permissions, such as Codex 0.169.0. */
const withoutModes = (files: AgentFiles): AgentFiles =>
  new Proxy(files, {
    get: (target, name: keyof AgentFiles) => {
      if (name === "getMetadata") {
        return async (path: string) => {
          const { mode: _, ...rest } = await files.getMetadata(path);
          return rest;
        };
      }
      if (name === "writeFile") return (path: string, bytes: Uint8Array) => files.writeFile(path, bytes);
      return target[name].bind(target);
    },
  });

describe("apply_patch", () => {
  const host = useHost();

  it("shows the changes and their diffs", async () => {
    host.put(BEFORE);
    const { output, status, shown } = await createPatchTool(host.files, host.root).call({ input: patchOf(...PATCH) });
    expect([status, output]).toEqual([
      "completed",
      "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA n/m/n.txt\nA r.txt\nM e.txt\nM q/o.txt\nD g.txt\n",
    ]);
    expect(host.tree()).toEqual(AFTER);
    const at = (path: string) => join(host.root, path);
    expect(shown).toEqual([
      {
        kind: "file_change",
        environment: "box",
        changes: [
          { path: at("e.txt"), change: "update", diff: "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n" },
          { path: at("g.txt"), change: "delete", diff: "@@ -1,1 +0,0 @@\n-bye\n" },
          { path: at("n/m/n.txt"), change: "add", diff: "@@ -0,0 +1,1 @@\n+hello\n" },
          { path: at("q/o.txt"), change: "update", movedFrom: at("o.txt"), diff: "@@ -1,1 +1,1 @@\n-x\n+y\n" },
          { path: at("r.txt"), change: "add", diff: "@@ -1,1 +1,1 @@\n-old\n+new\n" },
        ],
      },
    ]);
  });

  it("keeps permissions, links and hard links", async () => {
    host.put({
      "x.sh": { text: "x\n", mode: 0o750 },
      h: { hard: "x.sh" },
      l: { link: "x.sh" },
      m: { text: "z\n", mode: 0o711 },
    });
    const { ino } = statSync(join(host.root, "x.sh"));
    const input = patchOf(...change("l", "x", "y"), ...move("m", "d/m", "z", "w"), "*** Delete File: h");
    expect((await createPatchTool(host.files, host.root).call({ input })).output).toMatch(
      /remove file .*\/h: something else changed it in the meantime, possibly under another name\nThe patch was undone/,
    );
    const parts = patchOf(...change("l", "x", "y"), ...move("m", "d/m", "z", "w"));
    expect((await createPatchTool(host.files, host.root).call({ input: parts })).status).toBe("completed");
    expect(host.tree()).toEqual({
      "x.sh": { text: "y\n", mode: 0o750 },
      h: { text: "y\n", mode: 0o750 },
      l: { link: "x.sh" },
      "d/m": { text: "w\n", mode: 0o711 },
    });
    expect(statSync(join(host.root, "x.sh")).ino).toBe(ino);
  });

  it("changes files in place, where others have them open", async () => {
    host.put({ a: "one\n", b: "old\n" });
    const readers = ["a", "b"].map((name) => openSync(join(host.root, name), "r"));
    const input = patchOf(...change("a", "one", "two"), "*** Add File: b", "+new");
    expect((await createPatchTool(host.files, host.root).call({ input })).status).toBe("completed");
    expect(readers.map((fd) => readFileSync(fd, "utf8"))).toEqual(["two\n", "new\n"]);
    for (const fd of readers) closeSync(fd);
  });

  it("removes links, whatever they lead to", async () => {
    host.put({ nowhere: { link: "gone" }, to: { link: "d" }, "d/x": "x\n", in: { link: "d" } });
    symlinkSync("gone", join(host.root, "d/l"));
    symlinkSync("circle", join(host.root, "circle"));
    const input = patchOf(...["nowhere", "to", "in/l", "circle"].map((name) => `*** Delete File: ${name}`));
    expect((await createPatchTool(host.files, host.root).call({ input })).output).toMatch(
      /D nowhere\nD to\nD in\/l\nD circle\n/,
    );
    expect(host.tree()).toEqual({ "d/x": "x\n", in: { link: "d" } });
  });

  it("writes where a link leads, also where there is no file yet", async () => {
    host.put({ l: { link: "made" }, m: { link: "moved" }, a: "x\n" });
    const input = patchOf("*** Add File: l", "+new", ...move("a", "m", "x", "y"));
    expect((await createPatchTool(host.files, host.root).call({ input })).status).toBe("completed");
    expect(host.tree()).toEqual({ l: { link: "made" }, made: "new\n", m: { link: "moved" }, moved: "y\n" });
  });

  it("keeps permissions of what moves on a host that does not tell them", async () => {
    host.put({ "run.sh": { text: "x\n", mode: 0o755 }, real: "r\n", l: { link: "real" } });
    const input = patchOf(...move("run.sh", "d/go.sh", "x", "y"), ...move("l", "m", "r", "s"));
    expect((await createPatchTool(withoutModes(host.files), host.root).call({ input })).status).toBe("completed");
    expect(host.tree()).toEqual({ "d/go.sh": { text: "y\n", mode: 0o755 }, real: "r\n", m: "s\n" });
  });

  it.each([
    ["no text", {}, /takes `input`/],
    ["another type", { input: 5 }, /takes `input`/],
    [
      "an environment where there is one",
      { input: patchOf("*** Environment ID: x", "*** Delete File: a") },
      /one environment/,
    ],
  ])("answers %s", async (_, args, pattern) => {
    expect((await createPatchTool(host.files, host.root).call(args)).output).toMatch(pattern);
  });

  it("goes to the environment that is named, where the model is told that there are several", async () => {
    const alone = createPatchTool(host.files, host.root).tool.spec;
    expect([alone.description, alone.grammar]).not.toContainEqual(expect.stringContaining("Environment ID"));
    const tool = createPatchTool(host.files, host.root, { ids: ["one", "two"] });
    expect(tool.tool.spec.description).toMatch(
      /another environment than one .*`\*\*\* Environment ID: ID`.*; there are one, two\.$/,
    );
    expect(tool.tool.spec.grammar).toMatch(/^start: begin environment\? operation\+ end\n[\s\S]*^environment: /m);
    const named = (id: string) => tool.call({ input: patchOf(`*** Environment ID: ${id}`, "*** Add File: a", "+x") });
    expect((await named("three")).output).toBe("apply_patch: there is no environment 'three'; there are: one, two");
    expect((await named("two")).shown).toMatchObject([{ environment: "two" }]);
  });

  it("refuses what is too large to be put back", async () => {
    host.put({ big: "x".repeat(10 * 1024 * 1024 + 1) });
    const { output } = await createPatchTool(host.files, host.root).call({ input: patchOf("*** Delete File: big") });
    expect(output).toMatch(/big cannot be read: it has 10485761 bytes.*at most 10485760 bytes/);
  });
});

describe("a patch in exec_command", () => {
  const host = useHost();

  it("is taken out, in the directory of the call and of its cd", async () => {
    host.put({ "a/b/f": "x\n" });
    const tool = createPatchTool(host.files, host.root);
    const cmd = `cd b && apply_patch <<'EOF'\n${patchOf(...change("f", "x", "y"))}EOF\n`;
    const { output } = await tool.call({ cmd, workdir: "a" }, "exec_command");
    expect(output).toBe(
      "Wall time: 0.0000 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM f\n",
    );
    expect(host.tree()).toEqual({ "a/b/f": "y\n" });
  });

  it("is refused where only a shell knows the directory", async () => {
    const cmd = `cd ~ && apply_patch <<'EOF'\n${patchOf("*** Add File: a", "+x")}EOF\n`;
    expect(await createPatchTool(host.files, host.root).call({ cmd }, "exec_command")).toMatchObject({
      status: "failed",
      output: expect.stringContaining("cd ~"),
    });
    expect(host.tree()).toEqual({});
  });

  it("is left to the shell, and explained, where there is more", () => {
    const { tool } = createPatchTool(host.files, host.root);
    const args = { cmd: "make && apply_patch <<'EOF'\nEOF\n" };
    expect(tool.intercept!("exec_command", args)).toBeUndefined();
    const missing = "/bin/bash: line 1: apply_patch: command not found\n";
    expect(tool.remark!("exec_command", args, missing)).toContain("not a program of this shell");
    expect(tool.remark!("exec_command", args, "zsh:1: command not found: apply_patch")).toBeDefined();
    expect(tool.remark!("exec_command", args, "sh: 2: apply_patch: Permission denied")).toBeDefined();
    expect(tool.remark!("exec_command", args, "make: no rule")).toBeUndefined();
    expect(tool.remark!("exec_command", { cmd: "make" }, missing)).toBeUndefined();
  });
});

describe("a patch that fails on its way", () => {
  const host = useHost();
  const writes = (name: string) => ["writeFile", "remove", "createDirectory"].includes(name);

  it("is undone, whichever call fails", async () => {
    let failing = 0;
    for (let hasFailed = true; hasFailed; ) {
      host.put(BEFORE);
      let count = 0;
      hasFailed = false;
      failing += 1;
      const files = host.watch((name, path) => {
        count += writes(name) ? 1 : 0;
        if (!writes(name) || count !== failing) return;
        hasFailed = true;
        throw new Error(`no space left on device: ${path}`);
      });
      const { output, status } = await createPatchTool(files, host.root).call({ input: patchOf(...PATCH) });
      if (!hasFailed) continue;
      expect(status).toBe("failed");
      expect(output).toMatch(
        /^Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed to (write|remove) file .*no space left/,
      );
      expect(output).toMatch(/\nThe patch was undone: every file is as before\.\n$/);
      expect(host.tree()).toEqual(BEFORE);
    }
    expect(failing).toBeGreaterThan(9);
  });

  it("puts back permissions, and what a link led nowhere to", async () => {
    const before: Record<string, Entry> = { a: { text: "x\n", mode: 0o700 }, l: { link: "nowhere" }, "z/f": "1\n" };
    host.put(before);
    const files = host.watch((name, path) => {
      if (name === "remove" && path.endsWith("z/f")) throw new Error("busy");
    });
    const input = patchOf("*** Delete File: a", "*** Add File: l", "+x", "*** Delete File: z/f");
    expect((await createPatchTool(files, host.root).call({ input })).output).toContain("every file is as before");
    expect(host.tree()).toEqual(before);
  });

  it("says of each file what is true where it cannot be undone", async () => {
    host.put({ a: "x\n", b: "x\n", c: "x\n" });
    let count = 0;
    const files = host.watch((name) => {
      if (name === "writeFile" && ++count > 1) throw new Error("the connection was lost");
    });
    const input = patchOf(...change("a", "x", "y"), ...change("b", "x", "y"), ...change("c", "x", "y"));
    const { output } = await createPatchTool(files, host.root).call({ input });
    const at = (name: string) => join(host.root, name);
    expect(output.split("\n").slice(3, -1)).toEqual([
      `Failed to write file ${at("b")}: the connection was lost`,
      "The patch could not be undone completely. What is true of each file now:",
      `${at("a")}: as the patch leaves it (the connection was lost)`,
      `${at("b")}: as before`,
      `${at("c")}: as before`,
    ]);
    expect(host.tree()).toEqual({ a: "y\n", b: "x\n", c: "x\n" });
  });

  it("says so where a file cannot even be read again", async () => {
    host.put({ a: "x\n" });
    let isLost = false;
    const files = host.watch((name) => {
      isLost ||= name === "writeFile";
      if (isLost) throw new Error("the connection was lost");
    });
    const { output } = await createPatchTool(files, host.root).call({ input: patchOf(...change("a", "x", "y")) });
    expect(output).toContain(`${join(host.root, "a")}: unknown, since it cannot be read (the connection was lost)`);
  });

  it("overwrites nobody's change", async () => {
    host.put({ a: "x\n", b: "x\n" });
    const files = host.watch((name, path) => {
      if (name === "writeFile" && path.endsWith("/a")) host.put({ b: "mine\n" });
    });
    const input = patchOf(...change("a", "x", "y"), ...change("b", "x", "y"));
    const { output } = await createPatchTool(files, host.root).call({ input });
    expect(output).toMatch(/write file .*\/b: something else changed it in the meantime/);
    expect(host.tree()).toEqual({ a: "x\n", b: "mine\n" });
  });

  it("overwrites no change that is made just before the write", async () => {
    host.put({ a: "x\n" });
    const mine = { a: "mine\n", n: "mine\n", "d/n": "mine\n" };
    for (const lines of [change("a", "x", "y"), ["*** Add File: n", "+y"], move("a", "d/n", "x", "y")]) {
      host.put({ a: "x\n" });
      const files = host.watch((name) => {
        if (name === "writeFile") host.put(mine);
      });
      const { output } = await createPatchTool(files, host.root).call({ input: patchOf(...lines) });
      expect(output).toMatch(
        /Failed to write file .*: something else changed .* in the meantime\nThe patch was undone/,
      );
      expect(host.tree()).toEqual(mine);
      for (const name of Object.keys(mine)) await host.files.remove(join(host.root, name));
    }
  });

  it("undoes no change that is made after its own", async () => {
    host.put({ a: "x\n", b: "x\n" });
    const files = host.watch((name, path) => {
      if (name !== "writeFile" || !path.endsWith("/b")) return;
      host.put({ a: "mine\n" });
      throw new Error("busy");
    });
    const input = patchOf(...change("a", "x", "y"), ...change("b", "x", "y"));
    const { output } = await createPatchTool(files, host.root).call({ input });
    expect(output).toMatch(/\/a: neither as before nor as the patch leaves it \(something else changed it after/);
    expect(host.tree()).toEqual({ a: "mine\n", b: "x\n" });
  });
});

describe("a patch whose agent is killed", () => {
  const host = useHost();

  it("leaves every file old or new between any two calls, and the next run tells which", async () => {
    let total = 1;
    for (let last = 0; last < total; last += 1) {
      host.put(BEFORE);
      host.calls.length = 0;
      const checkpoint = await dieBefore(last);
      const tree = host.tree();
      for (const path of new Set([...Object.keys(BEFORE), ...Object.keys(AFTER)])) {
        expect([BEFORE[path], AFTER[path]], `${path} before call ${last}`).toContainEqual(tree[path]);
      }
      const tool = createPatchTool(host.files, host.root);
      const told = await tool.recover(patchOf(...PATCH), checkpoint);
      const isNew = (path: string) => told.includes(`\n${path}: new`);
      expect(["e.txt", "n/m/n.txt", "r.txt", "g.txt"].map(isNew), told).toEqual([
        tree["e.txt"] === AFTER["e.txt"],
        "n/m/n.txt" in tree,
        tree["r.txt"] === AFTER["r.txt"],
        !("g.txt" in tree),
      ]);
      // Where nothing was saved yet, what is known is known of the operation.
      const move = checkpoint === undefined ? [false, false] : ["q/o.txt" in tree, !("o.txt" in tree)];
      expect(["q/o.txt", "o.txt"].map(isNew)).toEqual(move);
      total = Math.max(total, host.calls.length + 1);
      for (const path of Object.keys(host.tree())) await host.files.remove(join(host.root, path));
    }
    expect(total).toBeGreaterThan(20);
  });

  /** Runs the patch up to a call that is never made. Resolves with what the patch has saved. */
  async function dieBefore(last: number): Promise<unknown> {
    let died!: () => void;
    const death = new Promise<void>((resolve) => {
      died = resolve;
    });
    const files = host.watch((_name, _path, index) => {
      if (index < last) return undefined;
      died();
      return new Promise(() => {});
    });
    const tool = createPatchTool(files, host.root);
    await Promise.race([death, tool.call({ input: patchOf(...PATCH) })]);
    return tool.getCheckpoint();
  }

  it("is not fooled by a file that looks as if the patch had reached it, nor by half of a file", async () => {
    const before = { a: "x\ny\nx\n", b: "old and long\n", same: "x\n", gone: "x\n" };
    host.put(before);
    const input = patchOf(
      ...["*** Update File: a", "@@", " x", "+y"],
      ...change("b", "old and long", "new"),
      ...["*** Add File: same", "+x"],
      "*** Delete File: gone",
    );
    const tool = createPatchTool(host.files, host.root);
    await tool.call({ input });
    const recover = async () => {
      host.put({ ".codex-replace-0123456789abcdef": "n" });
      return (await tool.recover(input, tool.getCheckpoint())).split("\n").slice(1);
    };
    const left = `${host.root}/.codex-replace-0123456789abcdef: a temporary file that an interrupted write has left, to be removed`;
    expect(await recover()).toEqual([
      "a: new, as the patch leaves it",
      "b: new, as the patch leaves it",
      "same: new, as the patch leaves it",
      "gone: new, as the patch leaves it: removed",
      left,
    ]);
    host.put({ ...before, b: "new\nand long\n", ".codex-replace-00": before.b });
    expect(await recover()).toEqual([
      "a: old, the patch has not reached it",
      "b: neither old nor new: cut off while it was written, or changed by something else",
      "same: new, as the patch leaves it",
      "gone: old, the patch has not reached it",
      `${host.root}/.codex-replace-00: the whole old content of 'b' that an interrupted write has left, to be removed once it is not needed`,
      left,
    ]);
  });

  it("names what is done already when the patch is sent again", async () => {
    host.put({ a: "y\n", b: "x\n" });
    const input = patchOf(...change("a", "x", "y"), ...change("b", "x", "y"));
    const { output } = await createPatchTool(host.files, host.root).call({ input });
    expect(output).toMatch(/Already as this patch leaves them: 'a'\. .*Nothing was changed\.$/s);
  });
});
