import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { MAX_FLOODS } from "../../src/process/limits.js";
import { untilOutput, useBackend } from "./support.js";

const TERMINAL = { stdio: { kind: "pty" } } as const;
/** Numbers in lines of nine bytes: any that is lost, repeated or moved is seen. */
const LINES = 500_000;
const numbers = () =>
  createHash("sha256")
    .update(Array.from({ length: LINES }, lineOf).join(""))
    .digest("hex");
const lineOf = (_: unknown, index: number) => `${String(index).padStart(7, "0")}\r\n`;

describe("terminals that are written to as fast as they are read", () => {
  const host = useBackend();
  const flood = ["seq", "-f", "%07.0f", "0", String(LINES - 1)];

  it("lose, repeat and move nothing, also more of them than are read on threads", async () => {
    const expected = numbers();
    const digests = Array.from({ length: MAX_FLOODS + 3 }, async () => {
      const process = await host.run(flood, TERMINAL);
      const hash = createHash("sha256");
      for await (const { bytes } of process.log.follow()) hash.update(bytes);
      await process.closed;
      return hash.digest("hex");
    });
    expect(new Set(await Promise.all(digests))).toEqual(new Set([expected]));
  });

  it("take input meanwhile", async () => {
    const script = "yes 0123456789 & read line; kill $!; wait; echo; echo got $line";
    const process = await host.run(["sh", "-c", script], TERMINAL);
    await process.log.waitFor(5_000_000);
    await process.write(Buffer.from("this\n"));
    expect(await process.exited).toEqual({ kind: "exited", code: 0 });
    expect(await untilOutput(process, "\r\ngot this\r\n")).toContain("got this");
    await process.closed;
  });

  it.runIf(process.platform === "linux")("are given back at once when nobody wants their output any more", async () => {
    const count = () => readdirSync("/proc/self/fd").length;
    await host.run(["true"], TERMINAL).then(({ closed }) => closed);
    const before = count();
    for (let round = 0; round < 10; round += 1) {
      const process = await host.run(["yes"], TERMINAL);
      await process.log.waitFor(1_000_000 + round * 10_000);
      process.dispose();
      expect(await process.exited).toMatchObject({ kind: "signaled", signal: "SIGHUP" });
      await process.closed;
    }
    await vi.waitFor(() => expect(count()).toBeLessThanOrEqual(before));
  });
});
