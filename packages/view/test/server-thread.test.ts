import { createHash } from "node:crypto";
import type { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { ServerThread } from "../src/server-thread.js";
import { enter, send } from "./support/http.js";
import { openView, startSession } from "./support/orchestrators.js";

it("is started again at the same port after a crash, and lets in who was let in before", async () => {
  let restarted = () => {};
  const again = new Promise<void>((resolve) => {
    restarted = resolve;
  });
  const server = new ServerThread(
    { host: "127.0.0.1", port: 0, tls: undefined, names: [] },
    { receive: (message) => message.type === "listening" && seen(), restarted: () => restarted(), failed: () => {} },
  );
  onTestFinished(() => server.close());
  let seen = () => {};
  const port = await server.start();
  server.addToken({ hash: createHash("sha256").update("secret").digest("hex"), rights: "read" });
  const { base, bearer } = await enter(`http://127.0.0.1:${port}/#secret`);
  const listens = new Promise<void>((resolve) => {
    seen = resolve;
  });
  server.kill();
  await again;
  await listens;
  expect((await send(`${base}/me`, { headers: bearer })).status).toBe(204);
});

it("ends no call when its thread is killed in the middle of one, and serves the same pages again", async () => {
  const created = new Promise<Worker>((resolve) => process.once("worker", resolve));
  const { orchestrator, view } = await openView();
  const { base, bearer } = await enter(view.url);
  const call = orchestrator.callTool("exec_command", { cmd: "sleep 0.5; echo survived" });
  const started = await startSession(orchestrator, { cmd: "cat", stdin: "open" });
  await (await created).terminate();
  const getStatus = () =>
    send(`${base}/me`, { headers: bearer }).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(getStatus).toBe(204);
  const typed = { session_id: started, chars: "still here\n", yield_time_ms: 250 };
  expect((await orchestrator.callTool("write_stdin", typed)).text).toContain("still here");
  expect((await call).text).toContain("survived");
});

it("ends no call when it is closed in the middle of one", async () => {
  const { orchestrator, view } = await openView();
  const call = orchestrator.callTool("exec_command", { cmd: "sleep 0.5; echo survived" });
  await view.close();
  expect((await call).text).toContain("survived");
});

it("names the address where it cannot listen", async () => {
  const { view } = await openView();
  const port = Number(new URL(view.url).port);
  await expect(openView({}, { port })).rejects.toThrow(`the view cannot listen at 127.0.0.1, port ${port}`);
});
