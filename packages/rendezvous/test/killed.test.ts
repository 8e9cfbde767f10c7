import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";

const index = new URL("../dist/index.js", import.meta.url).href;

it.skipIf(process.platform !== "linux")(
  "a rendezvous that is killed refuses those that come back at once (needs Linux)",
  async () => {
    const script = `
      import { listenRendezvous, Rendezvous } from ${JSON.stringify(index)};
      console.log((await listenRendezvous(new Rendezvous())).url);`;
    const ends = new Set<string>();
    for (let run = 0; run < 10; run += 1) {
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const port = Number(new URL(url).port);
      const first = connect(port, "127.0.0.1").resume();
      await once(first, "connect");
      // Its answer shows that the process has this connection, and not the kernel alone.
      first.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n");
      await new Promise((resolve) => setImmediate(resolve));
      const closed = new Promise((resolve) => first.on("error", () => {}).once("close", resolve));
      child.kill("SIGKILL");
      await closed;
      const second = connect(port, "127.0.0.1").resume();
      ends.add(
        await new Promise<string>((resolve) => {
          second.once("connect", () => resolve("accepted")).once("error", ({ message }) => resolve(message));
        }),
      );
      second.destroy();
    }
    expect([...ends].map((end) => end.replace(/ 127.*/, ""))).toEqual(Array(ends.size).fill("connect ECONNREFUSED"));
  },
);
