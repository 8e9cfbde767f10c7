import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createMessage, type SavedThread, type ThreadEntry } from "@codex/agent";
import { createThreadStore, type ThreadFile } from "@codex/agent/node";
import { functionCall, message } from "@codex/agent/testing";
import { describe, expect, it, onTestFinished } from "vitest";

const ID = "019f8a94-3df8-7351-ad7a-e2aa42eea02c";
const NEW = { cwd: "/w", modelProvider: "mine" };
const item = (text: string): ThreadEntry => ({ type: "item", item: createMessage("user", text) });
const textsOf = ({ items }: SavedThread) => items.map((each) => JSON.stringify(each.content));

function setUp(options: { now?: () => number; limits?: object } = {}) {
  const home = mkdtempSync(join(realpathSync(tmpdir()), "threads "));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const store = createThreadStore({ home, version: "1.2.3", ...options });
  return { home, store };
}

async function write(file: ThreadFile, ...entries: ThreadEntry[]) {
  for (const entry of entries) await file.append(entry);
  await file.close();
}

describe("a thread's file", () => {
  it("lies by its local day and time, is nobody else's to read, and begins with what it is", async () => {
    const at = new Date(2026, 0, 2, 3, 4, 5);
    const { home, store } = setUp({ now: () => at.getTime() });
    const { id, file } = await store.create({ ...NEW, id: ID });
    await write(file, item("one"));
    expect(file.path).toBe(join(home, "sessions/2026/01/02", `rollout-2026-01-02T03-04-05-${id}.jsonl`));
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
    const lines = readFileSync(file.path, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      {
        timestamp: at.toISOString(),
        type: "session_meta",
        payload: {
          id: ID,
          timestamp: at.toISOString(),
          cwd: "/w",
          originator: "codex-ts",
          cli_version: "1.2.3",
          source: "exec",
          model_provider: "mine",
        },
      },
      { timestamp: at.toISOString(), type: "response_item", payload: createMessage("user", "one") },
    ]);
  });

  it("has an item as soon as it was appended", async () => {
    const { store } = setUp();
    const { file } = await store.create(NEW);
    await file.append(item("one"));
    expect(readFileSync(file.path, "utf8")).toContain('"one"');
    await file.close();
  });

  it("has one writer", async () => {
    const { store } = setUp();
    const { id, file } = await store.create(NEW);
    await expect(store.open(id)).rejects.toMatchObject({ code: "lock_timeout" });
    await file.close();
    const opened = await store.open(id);
    await opened.file.close();
    expect(readdirSync(dirname(file.path))).toHaveLength(1);
  });

  it("is gone on with behind half a line, which does not count", async () => {
    const { store } = setUp();
    const { id, file } = await store.create(NEW);
    await write(file, item("one"));
    appendFileSync(file.path, '{"timestamp":"x","type":"response_item","payl');
    const opened = await store.open(id);
    expect(textsOf(opened.saved)).toHaveLength(1);
    await write(opened.file, item("two"));
    const again = await store.open(id);
    await again.file.close();
    expect(textsOf(again.saved)).toMatchObject([
      expect.stringContaining("one") as string,
      expect.stringContaining("two") as string,
    ]);
  });

  it("tells which calls were made, what was used, and what replaced the history", async () => {
    const { store } = setUp();
    const { id, file } = await store.create(NEW);
    const usage = {
      inputTokens: 1,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      outputTokens: 2,
      reasoningOutputTokens: 0,
      totalTokens: 3,
    };
    await write(
      file,
      { type: "turn_started", turnId: "t", model: "m", cwd: undefined, environment: undefined },
      { type: "prompt", text: "do it" },
      item("old"),
      { type: "compacted", items: [message("new")], tokensBefore: 9, reason: "long" },
      { type: "item", item: functionCall("c1", "f", {}) },
      { type: "call_started", callId: "c1", name: "f", environment: "local" },
      { type: "functions_only" },
      { type: "usage", turnId: "t", usage, total: { ...usage, totalTokens: 30 } },
    );
    const { saved, file: reopened } = await store.open(id);
    await reopened.close();
    expect(saved).toMatchObject({
      lastTokens: 3,
      functionsOnly: true,
      usage: { totalTokens: 30 },
      startedCalls: new Set(["c1"]),
    });
    expect(saved.items).toEqual([message("new"), functionCall("c1", "f", {})]);
    const kept = [];
    for await (const { entry } of store.readEntries(id)) kept.push(entry);
    expect(kept.map(({ type }) => type)).toEqual([
      "turn_started",
      "prompt",
      "item",
      "compacted",
      "item",
      "call_started",
      "functions_only",
      "usage",
    ]);
    expect(kept[1]).toEqual({ type: "prompt", text: "do it" });
    expect(kept[5]).toEqual({ type: "call_started", callId: "c1", name: "f", environment: "local" });
  });

  it("may be of the other client: lines of types that are not known are passed over", async () => {
    const { home, store } = setUp();
    const { file } = await store.create({ ...NEW, id: ID });
    await file.close();
    const line = (type: string, payload: object) => `${JSON.stringify({ timestamp: "x", type, payload })}\n`;
    writeFileSync(
      file.path,
      line("session_meta", { id: ID, cwd: "/other", git: {} }) +
        line("event_msg", { type: "token_count" }) +
        line("turn_context", {}) +
        line("response_item", { ...createMessage("user", "hello"), id: null }) +
        line("response_item", { type: "ghost_snapshot" }) +
        "no json\n" +
        line("world_state", {}),
    );
    const { saved, meta, file: opened } = await store.open(ID);
    await opened.close();
    expect({ items: saved.items.length, cwd: meta.cwd, calls: saved.startedCalls }).toEqual({
      items: 1,
      cwd: "/other",
      calls: undefined,
    });
    expect(home).toBeTruthy();
  });

  it("is bounded", async () => {
    const { store, home } = setUp();
    const { id, file } = await store.create(NEW);
    await write(file, item("x".repeat(5000)));
    const bounded = (limits: object) => createThreadStore({ home, version: "1", limits }).open(id);
    await expect(bounded({ lineBytes: 4000 })).rejects.toThrow(/a line is over 4000 bytes/);
    await expect(bounded({ fileBytes: 4000 })).rejects.toThrow(/over 4000 bytes/);
  });
});

describe("an entry that its readers would refuse", () => {
  it("is not written, and the thread goes on", async () => {
    const { store } = setUp({ limits: { lineBytes: 2_000, fileBytes: 5_000 } });
    const { id, file } = await store.create(NEW);
    await expect(file.append(item("x".repeat(2_000)))).rejects.toThrow(
      /an entry has \d+ bytes, the limit is 2000 bytes/,
    );
    await file.append(item("kept"));
    const fill = async () => {
      for (;;) await file.append(item("y".repeat(1_000)));
    };
    await expect(fill()).rejects.toThrow(/it would have \d+ bytes, the limit is 5000 bytes/);
    await file.close();
    const opened = await store.open(id);
    await opened.file.close();
    expect(textsOf(opened.saved)[0]).toContain("kept");
  });
});

it("heals halves of surrogate pairs, of a saved thread and of a new one", async () => {
  const { store } = setUp();
  const { id, file } = await store.create(NEW);
  await write(file, item("new \ud83d"));
  expect(readFileSync(file.path, "utf8")).not.toMatch(/\\ud/);
  const old = { timestamp: "", type: "response_item", payload: createMessage("user", "old \ud83d") };
  appendFileSync(file.path, `${JSON.stringify(old)}\n`);
  const opened = await store.open(id);
  await opened.file.close();
  expect(textsOf(opened.saved).join()).toMatch(/new \ufffd.*old \ufffd/);
});

describe("a store", () => {
  it("knows the last thread of a directory, and of any", async () => {
    const { store } = setUp();
    const first = await store.create({ ...NEW, cwd: "/a" });
    await first.file.close();
    const second = await store.create({ ...NEW, cwd: "/b" });
    await second.file.close();
    const idOf = async (cwd?: string) => (await store.findLast(cwd)).meta.id;
    expect(await idOf("/a")).toBe(first.id);
    expect(await idOf("/b")).toBe(second.id);
    // The clock of the file system ticks in steps; what is written later is newer all the same.
    const opened = await store.open(first.id);
    do await opened.file.append(item("x"));
    while (statSync(first.file.path).mtimeMs <= statSync(second.file.path).mtimeMs);
    await opened.file.close();
    expect(await idOf()).toBe(first.id);
  });

  it("says which thread there is not", async () => {
    const { store } = setUp();
    await expect(store.open(ID)).rejects.toMatchObject({
      code: "unknown_thread",
      message: expect.stringContaining(ID) as string,
    });
    await expect(store.open("../../etc/passwd")).rejects.toMatchObject({ code: "unknown_thread" });
    await expect(store.findLast("/a")).rejects.toMatchObject({
      code: "no_thread",
      message: expect.stringContaining("/a") as string,
    });
  });

  it("finds a thread by the beginning of its id, where only one has it", async () => {
    const { store } = setUp();
    for (const id of [ID, `${ID.slice(0, -1)}d`]) await (await store.create({ ...NEW, id })).file.close();
    const other = await store.create({ ...NEW, id: "019f8a95-0000-7000-8000-000000000000" });
    await other.file.close();
    expect((await store.find("019F8A95")).meta.id).toBe(other.id);
    expect((await store.find(ID)).meta.id).toBe(ID);
    const opened = await store.open("019f8a95-0");
    await opened.file.close();
    expect(opened.saved.id).toBe(other.id);
    await expect(store.find("019f8a94")).rejects.toMatchObject({
      code: "ambiguous_thread",
      message: expect.stringMatching(/^2 threads begin with "019f8a94": 019f8a94-\S+, 019f8a94-\S+$/) as string,
    });
    for (const id of ["019f8", "", "-", "019f8a96", `${ID}0`, "......"])
      await expect(store.find(id)).rejects.toMatchObject({ code: "unknown_thread" });
  });

  it.each(["../../../../etc/passwd", "0199aaaa-0000-7000-8000-000000000000", "", `x${ID}`])(
    "does not take a file whose first line names %j for the thread of its name",
    async (id) => {
      const { store } = setUp();
      const { file } = await store.create({ ...NEW, id: ID });
      await file.close();
      writeFileSync(file.path, readFileSync(file.path, "utf8").replaceAll(ID, id));
      const other = await store.create(NEW);
      await other.file.close();
      for (const read of [store.open, store.find, store.fork])
        await expect(read(ID)).rejects.toMatchObject({ code: "bad_thread" });
      const listed: string[] = [];
      for await (const { meta } of store.list()) listed.push(meta.id);
      expect(listed).toEqual([other.id]);
      expect((await store.findLast("/w")).meta.id).toBe(other.id);
    },
  );

  it("does not say that a call was not made where a line is torn", async () => {
    const { store } = setUp();
    const { id, file } = await store.create(NEW);
    await write(file, { type: "item", item: functionCall("c1", "exec_command", { cmd: "x" }) });
    appendFileSync(file.path, '{"timestamp":"","type":"turn_started","payload":{}}\n');
    const known = await store.open(id);
    await known.file.close();
    expect(known.saved.startedCalls?.has("c1")).toBe(false);
    appendFileSync(file.path, '{"timestamp":"","type":"call_started","payload":{"callId":"c');
    for (const text of ["two", "three"]) {
      const torn = await store.open(id);
      await write(torn.file, item(text));
      expect(torn.saved.startedCalls).toBeUndefined();
    }
  });

  it("forks a thread under an id of its own", async () => {
    const { store } = setUp();
    const { id, file } = await store.create(NEW);
    await write(file, item("one"));
    const before = readFileSync(file.path);
    const forked = await store.fork(id);
    await write(forked.file, item("two"));
    expect(forked.meta).toMatchObject({ forked_from_id: id, cwd: "/w" });
    expect(forked.saved.id).not.toBe(id);
    const opened = await store.open(forked.saved.id);
    await opened.file.close();
    expect(textsOf(opened.saved)).toHaveLength(2);
    expect(readFileSync(file.path)).toEqual(before);
  });
});
