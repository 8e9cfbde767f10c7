import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { BWRAP, isGateLikely, useGate } from "./support.js";

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

  it.runIf(BWRAP !== undefined && process.arch === "x64")(
    "starts nothing outside of its sandbox but what is allowed there",
    { timeout: 120_000 },
    async () => {
      const [ws, trusted, out] = [gate.makeDirectory(), gate.makeDirectory(), gate.makeDirectory()];
      const [allowed, other] = [join(trusted, "allowed"), join(trusted, "others")];
      for (const file of [allowed, other]) {
        writeFileSync(file, `#!/bin/sh\n: 2>/dev/null >"$OUT/\${0##*/}"\nexit 0\n`);
        chmodSync(file, 0o755);
      }
      const argv = [process.execPath, RACER, String(TIMES), allowed, other];
      const env = { OUT: out };
      const { status, reports, omitted } = await gate.run({
        argv,
        ws,
        env,
        rules: [["allow", allowed]],
        isSandboxed: true,
      });
      expect(status).toEqual({ code: 0 });
      expect(reports.length + omitted).toBeGreaterThan(0);
      expect(readdirSync(out)).toEqual(["allowed"]);
    },
  );
});
