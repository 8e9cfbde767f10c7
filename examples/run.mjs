// Runs every example and fails if one fails. CI runs this.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const directory = fileURLToPath(new URL(".", import.meta.url));
const examples = readdirSync(directory).filter((name) => name.endsWith(".mjs") && name !== "run.mjs");
let failed = 0;
for (const example of examples) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [example], {
    cwd: directory,
    encoding: "utf8",
    timeout: 60_000,
  });
  // An example that needs more than this Node says so.
  const skipped = /^skipped: .*$/m.exec(stdout)?.[0];
  console.log(`${status === 0 ? (skipped === undefined ? "passed" : "skipped") : "FAILED"}  examples/${example}`);
  if (skipped !== undefined) console.log(`         ${skipped}`);
  if (status === 0) continue;
  failed += 1;
  console.error(stderr);
}
console.log(`${examples.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
