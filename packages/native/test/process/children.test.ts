import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { text as readText } from "node:stream/consumers";
import { isMainThread } from "node:worker_threads";
import type { ExecBackend } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, expect, it } from "vitest";
import { ENV } from "../../../process-host/test/support.js";
import { createNative } from "../../src/native.js";

const backends: ExecBackend[] = [];
afterEach(async () => {
  for (const backend of backends.splice(0)) await backend.close();
});

it.runIf(process.platform === "linux" && isMainThread)(
  "children of many backends are waited for with one handler, which goes with the last",
  async () => {
    const count = () => process.listenerCount("SIGCHLD");
    const before = count();
    const started = await Promise.all(
      Array.from({ length: 12 }, async (_, code) => {
        const backend = createLocalBackend();
        backends.push(backend);
        const argv = ["sh", "-c", `read line; exit ${code}`];
        return backend.start({ argv, cwd: "/", env: ENV, stdio: { kind: "pipe", stdin: "open" } });
      }),
    );
    expect(count()).toBe(before + 1);
    for (const child of started) await child.write(Buffer.from("go\n"));
    const ends = await Promise.all(started.map((child) => child.exited));
    expect(ends).toEqual(Array.from({ length: 12 }, (_, code) => ({ kind: "exited", code })));
    // Those of the backends that guard them remain.
    for (const backend of backends.splice(0)) await backend.close();
    await expect.poll(count).toBe(before);
  },
);

it.runIf(process.platform === "linux")(
  "gives a child descriptors in their order, whatever their own numbers are",
  async () => {
    const native = createNative();
    const files = Array.from({ length: 150 }, (_, index) => native.createMemoryFile(Buffer.from(`${index}\n`)));
    const output = native.openPipe();
    // As badly as it can be: each has the number that another one is to get.
    const given = [...files].sort((one, other) => other - one);
    const script = 'for fd in "$@"; do read -r line <&"$fd" && echo "$fd $line"; done';
    const numbers = given.map((_, index) => String(index + 3));
    const exited = new Promise((resolve) => {
      const stdio = { stdin: null, stdout: output.write, stderr: output.write };
      native.children!.spawn({
        file: "/bin/bash",
        argv: ["bash", "-c", script, "bash", ...numbers],
        env: ENV,
        cwd: "/",
        stdio,
        descriptors: given,
        onExit: resolve,
      });
    });
    closeSync(output.write);
    const text = await readText(new Socket({ fd: output.read, readable: true, writable: false }));
    expect(await exited).toEqual({ code: 0 });
    const seen = text
      .trim()
      .split("\n")
      .map((line) => line.split(" ").map(Number))
      .sort(([one = 0], [other = 0]) => one - other);
    expect(seen).toEqual(given.map((fd, index) => [index + 3, files.indexOf(fd)]));
    for (const fd of files) closeSync(fd);
  },
);
