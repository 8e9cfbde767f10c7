import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { parseOptions } from "../src/options.mjs";
import { runAll, selectCases } from "../src/run-all.mjs";

const codex = fileURLToPath(new URL("../../packages/cli/dist/codex.js", import.meta.url));
const options = parseOptions(["--server", `'${process.execPath}' '${codex}' exec-server`, "--extensions"]);

describe("the built `codex exec-server`", () => {
  let results;
  beforeAll(async () => {
    results = new Map((await runAll(options)).map((result) => [result.name, result]));
  }, 120_000);

  const cases = selectCases(options);
  it.for(cases)("$name", ({ name, mayDiffer }) => {
    const { verdict, detail } = results.get(name);
    const allowed = mayDiffer === undefined ? ["passed"] : ["passed", "differs"];
    expect(allowed, detail).toContain(verdict);
  });
});
