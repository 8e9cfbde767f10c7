import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { codex, useCommand } from "./support.js";

describe("an exec-server where an executor is asked for", () => {
  const command = useCommand();

  async function listen() {
    const child = command.start(["exec-server", "--listen", "ws://127.0.0.1:0", "--log-level", "off"]);
    const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return new URL(url);
  }

  it("is used, whatever its address looks like", async () => {
    const { host, port } = await listen();
    for (const address of [`ws://${host}`, `http://${host}/`, host, port]) {
      const { code, stdout, stderr } = await command.run(
        ["run", "--executor", address, "--", "sh", "-c", "cat; exit 3"],
        "x",
      );
      expect([address, code, stdout.toString(), stderr]).toEqual([address, 3, "x", ""]);
    }
  });

  it("is used when it speaks on stdio", async () => {
    const executor = `'${process.execPath}' '${codex}' exec-server --listen stdio`;
    const { code, stdout, stderr } = await command.run(["run", "--executor", executor, "--", "echo", "far"]);
    expect([code, stdout.toString(), stderr]).toEqual([0, "far\n", ""]);
  });

  it("lists the tools of an executor in front of it", async () => {
    const { host } = await listen();
    const { code, stdout } = await command.run(["tools", "list", "--executor", host]);
    expect([code, stdout.toString()]).toEqual([0, expect.stringContaining("exec_command")]);
  });

  it("has no sessions to look after", async () => {
    const { host } = await listen();
    const { code, stderr } = await command.run(["sessions", "--executor", host]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("it is an exec-server")]);
  });
});
