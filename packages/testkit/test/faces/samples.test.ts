// The sample in the README of each package for an agent stack runs beside the versions that are installed here, with the files that
// are published. `pnpm faces:matrix` installs tarballs beside the lowest and the newest versions instead.
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FACE_SAMPLES, type FaceSample, readFaceSample } from "../../dist/faces/samples.js";

const packages = fileURLToPath(new URL("../../../", import.meta.url));
/** Six programs at once on a machine that is busy. */
const SLOW_MS = 120_000;

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "codex face samples-"));
});
afterAll(() => rmSync(root, { recursive: true }));

/** A project with the published files of the package; everything else is linked. */
function createProject({ face, stack, range }: FaceSample): string {
  const project = join(root, `${face} ${range}`);
  const modules = join(project, "node_modules");
  const source = join(packages, face);
  const { files } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { files: string[] };
  for (const file of ["package.json", ...files]) {
    cpSync(join(source, file), join(modules, "@codex", face, file), { recursive: true });
  }
  const link = (name: string, to: string) => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(to, join(modules, name));
  };
  const installed = join(source, "node_modules");
  const own = join(installed, `${stack}-${range}`);
  link(stack, existsSync(own) ? own : join(installed, stack));
  const folders = readdirSync(installed).filter((name) => !name.startsWith("."));
  const names = folders.flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(installed, name)).map((each) => `${name}/${each}`) : [name],
  );
  for (const name of names.filter((each) => each !== stack)) link(name, join(installed, name));
  if (!names.includes("@codex/local")) link("@codex/local", join(packages, "local"));
  return project;
}

describe.concurrent.each([...FACE_SAMPLES])("@codex/$face beside $stack $range", (sample) => {
  it.skipIf(Number(process.versions.node.split(".")[0]) < sample.node)(
    `runs its README, with Node ${sample.node} or later`,
    async ({ expect }) => {
      const project = createProject(sample);
      writeFileSync(join(project, "sample.mjs"), readFaceSample(packages, sample));
      writeFileSync(join(project, "client.mjs"), sample.client ?? 'import "./sample.mjs";');
      const env = { PATH: process.env.PATH, HOME: project };
      const ran = await new Promise((resolve) => {
        execFile(process.execPath, ["client.mjs"], { cwd: project, env, encoding: "utf8" }, (error, stdout, stderr) =>
          resolve({ status: error === null ? 0 : error.code, stdout, stderr }),
        );
      });
      expect(ran).toEqual({ status: 0, stdout: sample.stdout, stderr: "" });
    },
    SLOW_MS,
  );
});

it("takes no sample that its README does not have", () => {
  const sample: FaceSample = { ...FACE_SAMPLES[0]!, replace: [["no such text", ""]] };
  expect(() => readFaceSample(packages, sample)).toThrow("`no such text`");
});
