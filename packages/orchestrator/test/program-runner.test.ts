import { fileURLToPath } from "node:url";
import { createProgramRunner } from "@codex/orchestrator";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { closeAfterTest, scriptedChannel } from "./support/executors.js";

describe("a program runner", () => {
  it("needs nothing of what judges the calls of a model", async () => {
    const entry = fileURLToPath(new URL("../src/create-program-runner.ts", import.meta.url));
    const options = { bundle: true, write: false, metafile: true, packages: "external", format: "esm" } as const;
    const { metafile } = await build({ ...options, entryPoints: [entry] });
    const used = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
    expect(used.filter((file) => /src\/(approvals|permit|resolve|respond|calls\/call-tool)/.test(file))).toEqual([]);
    const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
    expect(imported).toContain("@codex/executor-client/programs");
    expect(imported).not.toContain("@codex/policy");
  });

  it("lists tools, and carries out no call", async () => {
    const runner = createProgramRunner();
    closeAfterTest(() => runner.close());
    await runner.attach({ name: "main", channel: scriptedChannel().channel, shutdownOnClose: false });
    expect(runner.listTools().map(({ name }) => name)).toContain("exec_command");
    const { callTool } = Object.getPrototypeOf(runner);
    expect(await callTool.call(runner, "exec_command", { cmd: "x" })).toMatchObject({
      status: "error",
      structured: { code: "forbidden" },
    });
  });
});
