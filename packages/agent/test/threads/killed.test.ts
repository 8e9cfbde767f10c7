import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createThreadStore } from "@codex/agent/node";
import { functionCall, respond, say, startScriptedEndpoint } from "@codex/agent/testing";
import { expect, it, onTestFinished } from "vitest";
import { readAll, startAgent } from "../turn/support.js";

const program = fileURLToPath(new URL("programs/one-turn.mjs", import.meta.url));

it("goes on after a kill at the last item, and says of the open call that nobody knows", async () => {
  const home = mkdtempSync(join(realpathSync(tmpdir()), "killed-"));
  const script = [respond(functionCall("c1", "exec_command", { cmd: "echo begun; sleep 100", yield_time_ms: 30_000 }))];
  const endpoint = await startScriptedEndpoint(script);
  onTestFinished(async () => {
    await endpoint.close();
    rmSync(home, { recursive: true, force: true });
  });
  const child = spawn(process.execPath, [program, home, endpoint.url], { stdio: ["ignore", "pipe", "inherit"] });
  // It says the thread's id, and then that the command has begun.
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const id = String((await lines.next()).value);
  expect((await lines.next()).value).toBe("begun");
  child.kill("SIGKILL");
  await once(child, "exit");

  const store = createThreadStore({ home, version: "test" });
  const { saved, file } = await store.open(id);
  const { agent, endpoint: next } = await startAgent([say("I see.")]);
  const thread = await agent.resumeThread(saved, { recorder: file });
  await readAll(thread.run("what happened?"));
  await file.close();
  const answer = next.requests[0]!.body.input.find(({ type }) => type === "function_call_output");
  expect(answer).toMatchObject({
    call_id: "c1",
    output: expect.stringMatching(/was started\. What it did is unknown/) as string,
  });
  const again = await store.open(id);
  await again.file.close();
  expect(again.saved.items).toEqual(thread.items);
});
