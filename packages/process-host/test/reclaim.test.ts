import { describe, expect, it } from "vitest";
import { FORGOTTEN_PROCESS_BYTES, RECLAIM_BYTES } from "../src/limits.js";
import { createLocalBackend } from "../src/local-backend.js";
import { createReclaim } from "../src/reclaim.js";
import { ENV } from "./support.js";

/** Tells what was done, and resolves with it once there was a number of trims. */
function useReclaim(onTrim: (trims: number) => void = () => {}) {
  const steps: string[] = [];
  let resolve: (() => void) | undefined;
  const reclaim = createReclaim({
    collect: () => void steps.push("collect"),
    trim() {
      steps.push("trim");
      onTrim(steps.filter((step) => step === "trim").length);
      resolve?.();
    },
    delayMs: 1,
    pauseMs: 1,
  });
  const untilTrims = async (count: number) => {
    while (steps.filter((step) => step === "trim").length < count) {
      await new Promise<void>((go) => {
        resolve = go;
      });
    }
    return steps;
  };
  return { reclaim, untilTrims };
}

describe("the memory of forgotten processes", () => {
  it("is collected once for all of a moment, and then given back", async () => {
    const { reclaim, untilTrims } = useReclaim();
    for (let count = 0; count < 3; count += 1) reclaim.count(RECLAIM_BYTES);
    expect(await untilTrims(1)).toEqual(["collect", "trim"]);
    reclaim.close();
  });

  it("is counted for processes without output too", async () => {
    const { reclaim, untilTrims } = useReclaim();
    for (let bytes = 0; bytes < RECLAIM_BYTES; bytes += FORGOTTEN_PROCESS_BYTES) reclaim.count(0);
    expect(await untilTrims(1)).toEqual(["collect", "trim"]);
    reclaim.close();
  });

  it("is collected again for what is forgotten meanwhile", async () => {
    const { reclaim, untilTrims } = useReclaim((trims) => {
      if (trims === 1) reclaim.count(RECLAIM_BYTES);
    });
    reclaim.count(RECLAIM_BYTES);
    expect(await untilTrims(2)).toEqual(["collect", "trim", "collect", "trim"]);
    reclaim.close();
  });

  it("is collected by a backend that was told how, once it is disposed of", async () => {
    let collect: (() => void) | undefined;
    const collected = new Promise<void>((resolve) => {
      collect = resolve;
    });
    const backend = createLocalBackend({ collectGarbage: () => collect?.() });
    const process = await backend.start({
      argv: ["head", "-c", String(RECLAIM_BYTES), "/dev/zero"],
      cwd: "/tmp",
      env: ENV,
      stdio: { kind: "pipe", stdin: "null" },
      log: { headBytes: 0, tailBytes: 2 * RECLAIM_BYTES, spillBytes: 0 },
    });
    await process.closed;
    process.dispose();
    await collected;
    await backend.close();
  });
});
