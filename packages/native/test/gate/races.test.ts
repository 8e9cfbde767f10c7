import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isGateLikely, useGate } from "./support.js";

const RACER = fileURLToPath(new URL("programs/racer.cjs", import.meta.url));
const TIMES = Number(process.env.CODEX_GATE_RACES ?? 300);

describe.runIf(isGateLikely)("a caller whose other thread changes the path", () => {
  const gate = useGate();

  it("starts nothing that is refused", { timeout: 120_000 }, async () => {
    const ws = gate.makeDirectory();
    const [allowed, refused] = [join(ws, "allowed"), join(ws, "refused")];
    writeFileSync(allowed, '#!/bin/sh\n: > "$WS/ran-allowed"\n');
    writeFileSync(refused, '#!/bin/sh\n: > "$WS/ran-refused"\n');
    for (const file of [allowed, refused]) chmodSync(file, 0o755);
    const argv = [process.execPath, RACER, String(TIMES), allowed, refused];
    const { status, output, reports } = await gate.run({ argv, ws, rules: [["refuse", "refused"]] });
    expect({ status, output }).toEqual({ status: { code: 0 }, output: "refused some\n" });
    // Both were tried, so that the race took place.
    expect(existsSync(join(ws, "ran-allowed"))).toBe(true);
    expect(reports.length).toBeGreaterThan(0);
    expect(existsSync(join(ws, "ran-refused"))).toBe(false);
  });
});
