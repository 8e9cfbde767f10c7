import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CASE_ENV, CASES, type Case } from "./cases.js";
import { BWRAP, isGateLikely, useGate } from "./support.js";

/** The loader of Node, which a C library has. */
const LOADER = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].find(existsSync);
const ENV = { ...CASE_ENV, LOADER: LOADER ?? "" };

describe.runIf(isGateLikely)("where callers are traced", () => runCases(true));
describe.runIf(isGateLikely)("where they cannot be", () => runCases(false));

function runCases(canTrace: boolean) {
  const gate = useGate(canTrace);
  describe.each(["sandbox", "no sandbox"] as const)("in %s", (place) => {
    const shown = Object.entries(CASES).filter(
      ([, each]) => (each.place ?? place) === place && (canTrace || each.tracedOnly !== true),
    );
    const isSandboxed = place === "sandbox";
    for (const [name, each] of shown) {
      const isPossible = (each.needs ?? []).every(isInstalled) && (!isSandboxed || BWRAP !== undefined);
      (isPossible ? it.concurrent : it.skip)(name, async () => {
        const { script, rules, approved = [] } = each;
        const { status, output, reports } = await gate.run({ script, rules, approved, isSandboxed, env: ENV });
        const seen = { status, output, reported: reports.map(({ argv }) => argv) };
        const expected = typeof each.output === "string" ? each.output : expect.stringMatching(each.output);
        expect(seen).toEqual({ status: { code: each.code ?? 0 }, output: expected, reported: toReported(each) });
        if (reports.length > 0) expect(reports[0]).toMatchObject(each.as ?? { decision: "refused", reason: "rule" });
      });
    }
  });
}

const toReported = ({ reported = [] }: Case) =>
  reported.map((words) =>
    words.map((word) => (word === "." ? expect.any(String) : word.replace("$LOADER", ENV.LOADER))),
  );

function isInstalled(program: string): boolean {
  return program.startsWith("/")
    ? existsSync(program)
    : ["/usr/bin", "/bin"].some((directory) => existsSync(`${directory}/${program}`));
}
