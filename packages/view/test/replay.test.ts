import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuditLog, createFileSink } from "@codex/audit";
import { readReplay, replayView } from "@codex/view";
import { describe, expect, it, onTestFinished } from "vitest";
import { findViolations } from "./support/axe.js";
import { noBrowser, openPage } from "./support/browser.js";
import { openView, startSession } from "./support/orchestrators.js";

function createFile(name: string, text: string): string {
  const directory = mkdtempSync(join(tmpdir(), "codex view-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

const CAST = [
  '{"version":3,"term":{"cols":80,"rows":24},"command":"demo"}',
  '[0.5,"o","first words\\r\\n"]',
  '[0.5,"m","exec_command"]',
  '[30.0,"o","\\u001b[2J\\u001b[Hlast words\\r\\n"]',
  '[1.0,"m","write_stdin"]',
  '[1.0,"o","the end\\r\\n"]',
].join("\n");

const MESSAGE = { type: "message", role: "user", content: [{ type: "input_text", text: "Make it pass." }] };
const THREAD = [
  { type: "session_meta", payload: { id: "0199a213-81c0-7800-8aa1-bbab2a035a53", cwd: "/srv/app" } },
  { type: "response_item", payload: MESSAGE },
  {
    type: "response_item",
    payload: { type: "function_call", call_id: "c1", name: "exec_command", arguments: '{"cmd":"make test"}' },
  },
  {
    type: "response_item",
    payload: { type: "function_call_output", call_id: "c1", output: "Process exited with code 2\nOutput:\nno rule" },
  },
  { type: "unheard_of", payload: {} },
]
  .map((line) => JSON.stringify({ timestamp: "2026-01-01T00:00:00.000Z", ...line }))
  .join("\n");

it.each([
  ["a file of another kind", "hello\n", /is no recording \(asciicast 2 or 3\), no audit log and no thread/],
  ["an empty file", "", /is no recording/],
])("names %s", async (_name, text, message) => {
  await expect(readReplay(createFile("x", text), tmpdir())).rejects.toThrow(message);
});

it("names a file and a thread that are not there", async () => {
  await expect(readReplay("/nowhere/a.cast", tmpdir())).rejects.toThrow("there is no file /nowhere/a.cast");
  await expect(readReplay("0199a213", "/nowhere")).rejects.toThrow("0199a213");
});

describe.skipIf(noBrowser !== undefined)(`a replay${noBrowser === undefined ? "" : `: ${noBrowser}`}`, () => {
  async function openReplay(file: string) {
    const view = await replayView(await readReplay(file, tmpdir()));
    onTestFinished(() => view.close());
    return openPage(view.url);
  }

  it("of a recording seeks to a call", async () => {
    const page = await openReplay(createFile("demo.cast", CAST));
    await page.getByRole("link", { name: "Replay" }).click();
    const replay = page.getByRole("region", { name: "Replay" });
    await replay.getByRole("button", { name: /31\.0 s|32\.0 s/ }).click();
    await expect.poll(() => replay.locator(".ap-player").textContent()).toContain("last words");
    await replay.getByRole("button", { name: /exec_command/ }).click();
    await expect.poll(() => replay.locator(".ap-player").textContent()).toContain("first words");
    expect(await replay.locator(".ap-player").textContent()).not.toContain("last words");
    expect((await findViolations(page)).filter((violation) => !violation.includes(".ap-"))).toEqual([]);
  });

  it("of a thread has its conversation", async () => {
    const page = await openReplay(createFile("rollout.jsonl", THREAD));
    const conversation = page.getByRole("region", { name: "Conversation" });
    await conversation.getByText("Make it pass.").waitFor();
    await conversation.getByText("make test").waitFor();
    await conversation.getByText("exit code 2").waitFor();
  });

  it("of an audit log has its records and the state of its chain", async () => {
    const file = createFile("audit.jsonl", "");
    const log = createAuditLog({ sink: createFileSink(file) });
    await log.record({ type: "call", call: "1", tool: "exec_command", runs: true, environment: "build" });
    await log.record({
      type: "approval",
      call: "1",
      approval: "2",
      decision: "approved",
      by: "user",
      via: "view, viewer 1",
    });
    await log.flush();
    const page = await openReplay(file);
    await page.getByRole("button", { name: "Audit" }).click();
    const audit = page.getByRole("region", { name: "Audit" });
    await audit.getByText("The chain is intact: 2 records").waitFor();
    await audit.getByRole("searchbox", { name: "Filter" }).fill("viewer 1");
    expect(await audit.getByRole("row").count()).toBe(2);
    expect(await findViolations(page)).toEqual([]);
  });

  it("of a session that runs has what it wrote until now", async () => {
    const { orchestrator, view } = await openView();
    await startSession(orchestrator, { cmd: "echo recorded; cat", tty: true });
    const page = await openPage(view.url);
    await page.getByRole("link", { name: "Replay" }).click();
    await page.getByRole("button", { name: "echo recorded; cat" }).click();
    const replay = page.getByRole("region", { name: "Replay" });
    await replay.getByRole("button", { name: /exec_command/ }).waitFor();
    await replay.locator(".ap-player").press("End");
  });
});
