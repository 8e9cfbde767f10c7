import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const soak = fileURLToPath(new URL("../../../bench/soak.mjs", import.meta.url));

interface Report {
  runs: Record<string, number>;
  bytes: number;
  facts: { what: string; value: number; ok: boolean }[];
  targets: { name: string; cuts: number; descriptors?: { before: number; after: number } }[];
}

const run = (args: readonly string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [soak, ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
    onTestFinished(() => void child.kill());
  });

/** Counting the descriptors of a server takes root. */
const isRoot = process.getuid?.() === 0;

const FACTS = [
  "bytes unaccounted",
  "wrong bytes or outcomes",
  "processes left",
  ...(isRoot ? ["descriptors left"] : []),
];

const reason =
  process.platform === "linux" ? "" : ` (what a server holds is read from /proc, not on ${process.platform})`;

describe.skipIf(reason !== "")(`a soak of some seconds${reason}`, () => {
  // How memory grows is for `pnpm soak` to say, in minutes or hours.
  it(`loses no byte, invents no outcome and leaves no process${isRoot ? "" : " (descriptors: counted as root only)"}, while its connections are cut`, {
    timeout: 60_000,
  }, async () => {
    const args = ["--minutes", "0.1", "--workers", "2", "--cut-every", "0.1", "--pause", "0.1"];
    const { code, stdout, stderr } = await run([...args, "--structure", "--json"]);
    expect(stderr).toBe("");
    const { runs, bytes, facts, targets } = JSON.parse(stdout) as Report;
    expect(facts.filter(({ what }) => !what.startsWith("peak"))).toEqual(
      FACTS.map((what) => {
        return { what, value: 0, budget: 0, ok: true };
      }),
    );
    expect(code).toBe(0);
    expect(Object.entries(runs).filter(([, count]) => count < targets.length)).toEqual([]);
    expect(bytes).toBeGreaterThan(0);
    for (const { cuts } of targets) expect(cuts).toBeGreaterThan(0);
  });
});
