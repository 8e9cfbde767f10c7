import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("programs/idle-time.mjs", import.meta.url));

it.skipIf(Number.parseInt(process.versions.node, 10) !== 20)(
  "a grammar that was used takes no more processor time in the background (Node 20)",
  () => {
    const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(Number(stdout)).toBeLessThan(100);
  },
);
