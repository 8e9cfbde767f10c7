import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalEnvironment } from "@codex/local";
import { createOrchestrator } from "@codex/orchestrator";
import { describe, expect, it, onTestFinished } from "vitest";
import { ENV, outputOf } from "../../process-host/test/support.js";

function open() {
  const environment = createLocalEnvironment();
  onTestFinished(() => environment.close());
  return environment;
}

describe("the environment of this host", () => {
  it("runs processes without connecting anything", async () => {
    const environment = open();
    const stdio = { kind: "pipe", stdin: "null" } as const;
    const process = await environment.backend.start({ argv: ["echo", "hi"], cwd: "/tmp", env: ENV, stdio });
    expect([await outputOf(process), environment.state.status]).toEqual(["hi\n", "disconnected"]);
  });

  it("has files, and describes itself", async () => {
    const folder = mkdtempSync(join(tmpdir(), "local environment-ü "));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const environment = open();
    await environment.files.writeFile(join(folder, "a b"), Buffer.from("text"));
    expect(readFileSync(join(folder, "a b"), "utf8")).toBe("text");
    expect(await environment.info()).toMatchObject({ os: process.platform, cwd: process.cwd() });
    expect(environment.state.status).toBe("ready");
  });

  it("gives its tools to an orchestrator", async () => {
    const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
    const orchestrator = createOrchestrator({ policy, defaults: { login: false, shell: "sh" } });
    onTestFinished(() => orchestrator.close());
    expect((await open().attach(orchestrator)).name).toBe("local");
    expect(await orchestrator.callTool("exec_command", { cmd: "echo tool" })).toMatchObject({ isError: false });
  });
});
