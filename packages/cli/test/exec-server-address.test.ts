import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
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

const binary = process.env.CODEX_BINARY;

describe.skipIf(binary === undefined)(`one of Codex${binary === undefined ? " (CODEX_BINARY is not set)" : ""}`, () => {
  const run = (argv: readonly string[], stdin: "ignore" | "pipe") => {
    const executor = `'${binary}' exec-server --listen stdio`;
    const child = spawn(process.execPath, [codex, "run", "--executor", executor, "--", ...argv], {
      stdio: [stdin, "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };

  it("runs a program whose input is /dev/null to its end", async () => {
    const [code] = await once(run(["cat"], "ignore"), "exit");
    expect(code).toBe(0);
  });

  it("cannot end the input of a program, which is said once while the program waits for it", async () => {
    const child = run(["cat"], "pipe");
    const [printed, errors] = [text(child.stdout!), text(child.stderr!)];
    child.stderr!.once("data", () => child.kill("SIGINT"));
    child.stdin!.end("x");
    expect((await once(child, "close"))[0]).toBe(130);
    expect(await errors).toMatch(/^codex: this server cannot end the program's input; .*press Ctrl-C to end it\n$/);
    expect(await printed).toBe("x");
  });

  it("ends a program that it cannot send SIGTERM, and says how", async () => {
    const child = run(["sh", "-c", "echo ready; sleep 300"], "pipe");
    const errors = text(child.stderr!);
    await once(child.stdout!, "data");
    child.kill("SIGTERM");
    expect((await once(child, "close"))[0]).toBe(137);
    expect(await errors).toMatch(/SIGTERM was not sent: .*; the program is killed instead/);
  });
});

it.skipIf(process.platform !== "linux")(
  "a program gets /dev/null where this command has it (needs Linux)",
  async () => {
    const args = [codex, "run", "--", "readlink", "/proc/self/fd/0"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    expect(await text(child.stdout)).toBe("/dev/null\n");
  },
);
