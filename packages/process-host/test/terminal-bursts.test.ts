import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { stat } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { CHUNK_SLAB_BYTES, MAX_BURST_READERS } from "../../native/src/limits.js";
import { untilOutput, useBackend } from "./support.js";

const TERMINAL = { stdio: { kind: "pty" } } as const;
/** Numbers in lines of eight bytes, nine on a terminal: any that is lost, repeated or moved is seen. */
const LINES = Array.from({ length: 500_000 }, (_, index) => String(index).padStart(7, "0"));
const EXPECTED = createHash("sha256")
  .update(`${LINES.join("\r\n")}\r\n`)
  .digest("hex");

describe("terminals that are written to as fast as they are read", () => {
  const host = useBackend();
  const burst = () => ["cat", host.file("numbers", `${LINES.join("\n")}\n`)];

  it("lose, repeat and move nothing, also more of them than are read on threads", async () => {
    const digests = Array.from({ length: MAX_BURST_READERS + 3 }, async () => {
      const process = await host.run(burst(), TERMINAL);
      const hash = createHash("sha256");
      for await (const { bytes } of process.log.follow()) hash.update(bytes);
      await process.closed;
      return hash.digest("hex");
    });
    expect(new Set(await Promise.all(digests))).toEqual(new Set([EXPECTED]));
  });

  it("wait with what was read ahead while their output is held back, and lose none of it", async () => {
    const held = 2_000_000;
    const process = await host.run(burst(), TERMINAL);
    const hold = process.log.hold(0, held);
    await process.log.waitFor(held);
    for (let round = 0; round < 100; round += 1) await stat("/"); // each a turn of the thread pool
    expect(process.log.end).toBeLessThanOrEqual(held + CHUNK_SLAB_BYTES);
    const hash = createHash("sha256");
    for await (const { bytes, offset } of process.log.follow()) {
      hash.update(bytes);
      hold.move(offset);
    }
    expect(hash.digest("hex")).toBe(EXPECTED);
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
    await expect.poll(count).toBeLessThanOrEqual(before);
  });
});
