// A day of a service in short: 20 terminals that work while certificates and tokens are rotated and the service is reloaded.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRemoteEnvironment, createWebSocketLink } from "@codex/environments";
import type { RecordedOutput } from "@codex/executor-protocol";
import { createOrchestrator } from "@codex/orchestrator";
import { describe, expect, it, onTestFinished } from "vitest";
import { useCommand } from "../support.js";
import { hasOpenssl, rotateCertificate, visit } from "./credentials.js";
import { canSupervise, Supervised } from "./supervised.js";

const command = useCommand();
const COUNTERS = 18;
const ROTATIONS = 10;

describe.skipIf(!canSupervise || !hasOpenssl)("a service that runs all day", () => {
  it("loses no byte, no outcome and no program to ten rotations and reloads under load", {
    timeout: 120_000,
  }, async () => {
    const home = mkdtempSync(join(realpathSync(tmpdir()), "codex-day-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const path = (name: string) => join(home, name);
    rotateCertificate(home);
    writeFileSync(path("token"), "first");
    const files = ["--tls-cert", path("cert"), "--tls-key", path("key"), "--token-file", path("token")];
    const service = new Supervised(home, ["executor", "--listen", "fd://", "--drain", "30", ...files], 2_000_000);
    const url = `wss://${await service.address()}`;
    await service.message("READY=1");

    const orchestrator = createOrchestrator({
      policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
      defaults: { login: false, shell: "sh" },
    });
    const link = createWebSocketLink({ url, token: "first", ca: readFileSync(path("cert")) });
    const environment = createRemoteEnvironment({ id: "far", kind: "websocket", link });
    onTestFinished(async () => {
      await orchestrator.close();
      await environment.close();
    });
    await environment.attach(orchestrator);
    const call = async (tool: string, args: Record<string, unknown>) => {
      const result = await orchestrator.callTool(tool, args);
      expect(result.isError, result.text).toBe(false);
      return result.structured as Record<string, unknown>;
    };
    const open = async (cmd: string) => {
      const opened = await call("exec_command", { cmd, tty: true, yield_time_ms: 250 });
      return Number(opened.processId);
    };
    const line = 'n=$((n+1)); echo "line $n"; sleep 0.01';
    const count = (code: number) =>
      open(`stty -echo; n=0; until [ -e ${path("stop")} ]; do ${line}; done; exit ${code}`);
    const counters = await Promise.all(Array.from({ length: COUNTERS }, (_, index) => count(index)));
    const editor = await open(`vim -u NONE -i NONE -n ${path("text")}`);
    await call("write_stdin", { session_id: editor, chars: "iwritten before" });
    const speaker = await open("stty -echo; while read x; do echo heard $x; done");

    for (let round = 0; round < ROTATIONS; round += 1) {
      const before = service.events.length;
      rotateCertificate(home);
      writeFileSync(path("token"), `token-${round}`);
      service.send("HUP");
      await service.message("RELOADING=1", before);
      const https = url.replace("wss:", "https:");
      await expect.poll(async () => (await visit(https, `token-${round}`)).status, { timeout: 10_000 }).toBe(101);
      const heard = await orchestrator.callTool("write_stdin", { session_id: speaker, chars: `round ${round}\n` });
      expect(heard.text).toContain(`heard round ${round}`);
    }
    // A client with the new credentials, beside the one that is there since the first.
    const last = ["--token-file", path("token"), "--ca-file", path("cert")];
    expect((await command.run(["run", "--executor", url, ...last, "--", "echo", "new"])).stdout.toString()).toBe(
      "new\n",
    );

    await call("write_stdin", { session_id: editor, chars: " and after\u001b:wq\r", yield_time_ms: 2000 });
    expect(readFileSync(path("text"), "utf8")).toBe("written before and after\n");
    // The service is stopped while they still count: they end by themselves, and all of it arrives.
    service.send("TERM");
    await service.message("STOPPING=1");
    writeFileSync(path("stop"), "");
    for (const [index, id] of counters.entries()) {
      let text = "";
      let part: RecordedOutput;
      let from = 0;
      do {
        const read = await orchestrator.callTool("read_output", { session_id: id, from, chunks: true, wait_ms: 5000 });
        part = read.structured as unknown as RecordedOutput;
        expect(part.gone).toEqual([]);
        for (const { data } of part.chunks) text += Buffer.from(data, "base64").toString("latin1");
        from = part.range.to;
      } while (part.outcome.kind === "running" || !part.closed || part.range.to !== part.end);
      const lines = text.trim().split("\r\n");
      expect(lines).toEqual(lines.map((_line, number) => `line ${number + 1}`));
      expect(lines.length).toBeGreaterThan(ROTATIONS);
      expect(part.exitCode).toBe(index);
    }
    await orchestrator.close();
    expect((await service.next(({ kind }) => kind === "exit")).value).toBe(0);
    expect(service.stderr).not.toMatch(/error/);
  });
});
