// Configurations, requirements and flags: what a command of a model can read, write and reach, as recorded from `codex exec` of
// Codex 0.169.0. The letters are files that it could read (o, d, e) and write (W, D, O, T, G), and N for the network.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { basename, join } from "node:path";
import { loadConfig } from "@codex/config";
import { createLocalOrchestrator } from "@codex/local";
import { createSandboxSelector } from "@codex/policy";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listFlags } from "../../config/src/flags.js";

/** A case of `conformance/cases/settings.json`. `$BASE` is the directory of its files. */
interface Case {
  readonly name: string;
  readonly config: string;
  readonly requirements: string;
  /** Of `codex exec`. */
  readonly flags: readonly string[];
  /** What the command could do, or `error`: nothing ran. */
  readonly codex: string;
  /** What differs here on purpose, and why. */
  readonly here?: string;
  readonly why?: string;
}

const cases = JSON.parse(
  readFileSync(new URL("../../../conformance/cases/settings.json", import.meta.url), "utf8"),
) as readonly Case[];
const { kind } = await createCommandSandbox().getSupport();

const READ = { o: "other/s", d: "work/docs/d", e: "work/.env" };
const WRITTEN = { W: "work/x", D: "work/docs/x", O: "other/x", T: "/tmp/x", G: "work/.git/x" };

const listener = createServer((socket) => socket.end());
beforeAll(() => new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve)));
afterAll(() => listener.close());

/** Prints a letter for everything that it could do. */
function createScript(base: string): string {
  const at = (path: string) => (path.startsWith("/") ? `${path}-${basename(base)}` : join(base, path));
  const { port } = listener.address() as AddressInfo;
  return [
    ...Object.entries(READ).map(([letter, path]) => `head -c1 ${at(path)} >/dev/null 2>&1 && printf ${letter}`),
    ...Object.entries(WRITTEN).map(
      ([letter, path]) => `(: >${at(path)}) 2>/dev/null && printf ${letter} && rm ${at(path)}`,
    ),
    `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && printf N`,
    "true",
  ].join("\n");
}

/** The flags as the configuration takes them. */
function readFlags(words: readonly string[]) {
  const pairs = words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? ""] as const] : []));
  const sandbox = pairs.find(([name]) => name === "-s")?.[1];
  return listFlags({
    config: pairs.filter(([name]) => name === "-c").map(([, setting]) => setting),
    approvalPolicy: "never",
    ...(sandbox === undefined ? {} : { sandbox }),
  });
}

async function run({ config, requirements, flags }: Case): Promise<string> {
  // Codex has no helper below the directory for temporary files.
  const base = realpathSync(mkdtempSync("/var/tmp/codex-settings-"));
  try {
    for (const directory of ["home", "system", "work/docs", "other"])
      mkdirSync(join(base, directory), { recursive: true });
    for (const file of ["work/docs/d", "work/.env", "other/s"]) writeFileSync(join(base, file), "x");
    writeFileSync(join(base, "home/config.toml"), config.replaceAll("$BASE", base));
    if (requirements !== "")
      writeFileSync(join(base, "system/requirements.toml"), requirements.replaceAll("$BASE", base));
    const cwd = join(base, "work");
    const loaded = await loadConfig({
      home: join(base, "home"),
      homeOrigin: { kind: "default" },
      system: join(base, "system"),
      directory: cwd,
      flags: readFlags(flags),
    }).catch(() => undefined);
    if (loaded === undefined) return "error";
    const { approvalPolicy, sandbox } = loaded.settings;
    const policy = { approvalPolicy, sandbox: createSandboxSelector(sandbox) };
    const orchestrator = await createLocalOrchestrator({ policy });
    try {
      const call = { cmd: createScript(base), shell: "/bin/bash", login: false };
      const result = await orchestrator.callTool("exec_command", call, { cwd });
      return result.isError ? result.text : (result.output ?? "");
    } finally {
      await orchestrator.close();
    }
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

describe.runIf(kind === "bubblewrap")(
  "configurations, requirements and flags have the effect that they have in Codex 0.169.0",
  () => {
    it("of which there are 60 at least", () => {
      expect(cases.length).toBeGreaterThanOrEqual(60);
    });

    it("all of them", { timeout: 180_000 }, async () => {
      const actual: Record<string, string> = {};
      const waiting = [...cases];
      const work = async () => {
        for (let each = waiting.shift(); each !== undefined; each = waiting.shift())
          actual[each.name] = await run(each);
      };
      await Promise.all(Array.from({ length: 4 }, work));
      expect(actual).toEqual(Object.fromEntries(cases.map(({ name, codex, here = codex }) => [name, here])));
    });
  },
);
