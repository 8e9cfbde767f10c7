/**
 * `pnpm faces:matrix [face…]`: installs each package for an agent stack from its tarball, beside the lowest and the newest version of the stack that
 * the registry has, in an empty ES module project, and runs the first sample of its README. Status 1: one failed.
 */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { messageOf } from "@codex/values";
import { packPublished } from "./published.js";
import { FACE_SAMPLES, type FaceSample, readFaceSample } from "./samples.js";

const PACKAGES = fileURLToPath(new URL("../../../", import.meta.url));
const INSTALL_MS = 300_000;
const RUN_MS = 60_000;
const run = promisify(execFile);

const wanted = process.argv.slice(2);
const unknown = wanted.find((face) => !FACE_SAMPLES.some((sample) => sample.face === face));
if (unknown !== undefined) {
  const known = [...new Set(FACE_SAMPLES.map(({ face }) => face))].join(", ");
  console.error(`faces:matrix: no package \`${unknown}\`; there are ${known}`);
  process.exit(2);
}
const root = mkdtempSync(join(tmpdir(), "codex faces-"));
try {
  process.exitCode = (await runMatrix(root)) ? 0 : 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function runMatrix(root: string): Promise<boolean> {
  const samples = FACE_SAMPLES.filter(({ face }) => wanted.length === 0 || wanted.includes(face));
  const tarballs = packPublished(
    PACKAGES,
    ["local", ...new Set(samples.map(({ face }) => face))],
    join(root, "packed"),
  );
  let failures = 0;
  for (const [index, sample] of samples.entries()) {
    const { face, stack, range, node } = sample;
    if (Number(process.versions.node.split(".")[0]) < node) {
      console.log(`skipped  ${face} beside ${stack} ${range}: needs Node ${node}`);
      continue;
    }
    const project = join(root, String(index));
    createProject(sample, project, tarballs);
    for (const version of await listVersions(stack, range)) {
      const problem = await runSample(sample, version, project);
      if (problem !== undefined) failures += 1;
      console.log(
        `${problem === undefined ? "passed" : "FAILED"}   ${face} beside ${stack} ${version}, Node ${process.version}`,
      );
      if (problem !== undefined) console.error(problem);
    }
  }
  return failures === 0;
}

/** `^2.4.0` → `2.4.0`, `6` → `6.0.0`. */
/** The lowest and the newest version of a range that the registry has; one if they are the same. */
async function listVersions(stack: string, range: string): Promise<string[]> {
  const { stdout } = await run("npm", ["view", `${stack}@${range}`, "version", "--json"], { encoding: "utf8" });
  const numeric = new Intl.Collator("en", { numeric: true });
  const found = [JSON.parse(stdout) as string | string[]].flat().toSorted(numeric.compare);
  return [...new Set([found[0] ?? range, found.at(-1) ?? range])];
}

function createProject({ face }: FaceSample, project: string, tarballs: ReadonlyMap<string, string>): void {
  mkdirSync(project);
  const own = [`@codex/${face}`, "@codex/local"];
  const files = [...tarballs].map(([name, file]) => [name, `file:${file}`] as const);
  const dependencies = Object.fromEntries(files.filter(([name]) => own.includes(name)));
  // Without these overrides they would be requested from the registry.
  const overrides = Object.fromEntries(files.filter(([name]) => !own.includes(name)));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", dependencies, overrides }));
}

/** What went wrong; undefined when the sample printed what it should. */
async function runSample(sample: FaceSample, version: string, project: string): Promise<string | undefined> {
  const { stack, others = [], client, stdout: expected } = sample;
  try {
    const flags = ["--no-audit", "--no-fund", "--loglevel", "error"];
    const options = { cwd: project, encoding: "utf8" as const };
    await run("npm", ["install", ...flags, `${stack}@${version}`, ...others], { ...options, timeout: INSTALL_MS });
    writeFileSync(join(project, "sample.mjs"), readFaceSample(PACKAGES, sample));
    if (client !== undefined) writeFileSync(join(project, "client.mjs"), client);
    const env = { PATH: process.env.PATH, HOME: project };
    const file = client === undefined ? "sample.mjs" : "client.mjs";
    const { stdout, stderr } = await run(process.execPath, [file], { ...options, env, timeout: RUN_MS });
    return stdout === expected && stderr === "" ? undefined : `expected ${expected}, got ${stdout}${stderr}`;
  } catch (error) {
    return messageOf(error);
  }
}
