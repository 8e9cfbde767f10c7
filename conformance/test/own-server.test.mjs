import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { parseOptions } from "../src/options.mjs";
import { runAll, selectCases } from "../src/run-all.mjs";

const codex = fileURLToPath(new URL("../../packages/cli/dist/codex.js", import.meta.url));
const isBuilt = spawnSync(process.execPath, [codex, "exec-server", "--help"]).status === 0;
const options = parseOptions(["--server", `'${process.execPath}' '${codex}' exec-server`, "--extensions"]);

/** The connection is closed with a close frame, where Codex drops it without a word: 1006 for the client. */
const WITH_CLOSE_FRAME = "the connection was closed with 1000, expected 1006";

describe.skipIf(!isBuilt)("the built `codex exec-server` (skipped while the bundle has no such command)", () => {
  let results;
  beforeAll(async () => {
    results = new Map((await runAll(options)).map((result) => [result.name, result]));
  }, 120_000);

  const cases = selectCases(options);
  it.for(cases)("$name", ({ name, mayDiffer }, { skip }) => {
    const { verdict, detail } = results.get(name);
    if (detail === WITH_CLOSE_FRAME) skip(detail);
    const allowed = mayDiffer === undefined ? ["passed"] : ["passed", "differs"];
    expect(allowed, detail).toContain(verdict);
  });
});
