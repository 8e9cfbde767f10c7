import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";

it("uses nothing of Node outside of its Node subpaths", async () => {
  const entry = fileURLToPath(new URL("../dist/index.js", import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: "browser",
    format: "esm",
    logLevel: "silent",
  });
  expect(outputFiles[0]!.text).not.toMatch(/\b(?:Buffer\.|process\.)/);
});
