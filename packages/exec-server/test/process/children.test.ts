import { isMainThread } from "node:worker_threads";
import { afterEach, expect, it } from "vitest";
import { createLocalBackend, type ExecBackend } from "../../src/index.js";
import { ENV } from "./support.js";

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
    expect(count()).toBe(before);
  },
);
