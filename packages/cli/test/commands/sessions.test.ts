import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connectWebSocket, createOrchestrator } from "@codex/orchestrator";
import { afterEach, describe, expect, it } from "vitest";
import { finish, useCommand } from "../support.js";

describe("codex sessions", () => {
  const command = useCommand();
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** An executor with session 1000, which says `ready`, and ends with 3 once there is the file. */
  async function start() {
    const { url } = await command.listen(["--deterministic-ids"]);
    const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
    closing.push(() => orchestrator.close());
    await orchestrator.attach({ name: "main", channel: connectWebSocket(url) });
    const file = join(mkdtempSync(join(tmpdir(), "codex-sessions-")), "end");
    closing.push(() => rmSync(dirname(file), { recursive: true }));
    const cmd = `echo ready; until [ -e '${file}' ]; do sleep 0.05; done; echo over; exit 3`;
    await orchestrator.callTool("exec_command", { cmd, tty: true, login: false, until: "output" });
    const { host } = new URL(url);
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await command.run(["sessions", ...args]);
      return { code, stdout: stdout.toString(), stderr };
    };
    return { orchestrator, host, run, file };
  }

  it("are listed, read and ended, with the options on either side", async () => {
    const { host, run } = await start();
    const address = ["--executor", host];
    expect(await run("list", ...address)).toMatchObject({ code: 0, stdout: expect.stringContaining("1000") });
    expect(await run(...address, "list")).toMatchObject({ code: 0, stdout: expect.stringContaining("1000") });
    const listed = await run("list", "--json", ...address);
    expect(JSON.parse(listed.stdout)).toMatchObject({ sessions: [{ sessionId: 1000 }] });
    expect(await run("read", "1000", ...address)).toMatchObject({ code: 0, stdout: expect.stringContaining("ready") });
    const read = await run("read", "1000", "--json", ...address);
    expect(JSON.parse(read.stdout)).toMatchObject({ sessionId: 1000, text: expect.stringContaining("ready") });
    expect(await run("kill", ...address, "1000")).toMatchObject({ code: 0, stdout: expect.stringContaining("1000") });
    const unknown = {
      code: 1,
      stdout: "",
      stderr: "codex: unknown session 999; `codex sessions list` shows the sessions\n",
    };
    for (const name of ["read", "kill", "attach"]) expect(await run(name, "999", ...address)).toEqual(unknown);
    expect(await run("read", "999", "--json", ...address)).toEqual(unknown);
  });

  it("are looked after as before", async () => {
    const { host, run } = await start();
    expect(await run("--executor", host)).toMatchObject({ code: 0, stdout: expect.stringContaining("1000") });
    expect(await run("--executor", host, "--read", "1000")).toMatchObject({ stdout: expect.stringContaining("ready") });
    expect(await run("--executor", host, "--kill", "1000")).toMatchObject({ code: 0 });
  });

  it("are shown while they run, and their end is passed on", async () => {
    const { host, file } = await start();
    const attached = command.start(["sessions", "attach", "1000", "--executor", host]);
    const finished = finish(attached);
    await new Promise((resolve) => attached.stdout.once("data", resolve));
    writeFileSync(file, "");
    const { code, stdout } = await finished;
    expect([code, stdout.toString()]).toEqual([3, "ready\r\nover\r\n"]);
  });

  it("keep running after Ctrl-C", async () => {
    const { host, run } = await start();
    const attached = command.start(["sessions", "attach", "1000", "--executor", host]);
    const finished = finish(attached);
    await new Promise((resolve) => attached.stdout.once("data", resolve));
    attached.kill("SIGINT");
    const { code, stderr } = await finished;
    expect([code, stderr]).toEqual([0, "codex: session 1000 keeps running\n"]);
    expect((await run("list", "--executor", host)).stdout).toContain("1000");
  });

  it.each([
    [["list"], /--executor is missing/],
    [["attach", "1"], /--executor is missing/],
    [["--executor", "codex executor"], /on stdio belongs to whoever started it/],
    [
      ["kil", "1", "--executor", "127.0.0.1:1"],
      /unknown command 'kil'; it is one of list, read, kill, attach, record, screenshot\n/,
    ],
    [["read", "--executor", "127.0.0.1:1"], /missing required argument 'id'/],
  ])("%j is refused", async (args, reason) => {
    const { code, stderr } = await command.run(["sessions", ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  });
});
