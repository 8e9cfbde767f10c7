import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createLazyShellParser } from "@codex/shell-analysis";
import { afterAll, describe, expect, it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import type { AnalyzedCommand } from "../src/analyzed-command.js";
import { evaluateRequirement } from "../src/requirement.js";
import { createEffectiveRules } from "../src/rule-book.js";
import { parseRulePolicy } from "../src/rules/load-policy.js";
import { SPELLED, VARIANTS } from "./variants/all.js";
import { fill, findReason, title, type Variant } from "./variants/variant.js";

// Each way to run `zap` is shown to run it in the real shell, where that is installed, and is judged under rules about it.

// Scripts name the marker without quotes.
const base = realpathSync(mkdtempSync(join(/\s/.test(tmpdir()) ? "/tmp" : tmpdir(), "variants-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe.concurrent("runs for real", () => {
  it.for(VARIANTS.map((variant, index) => [index, title(variant), variant] as const))(
    "%i %s",
    { timeout: 120_000 },
    async ([index, , variant], { expect: expectHere, skip }) => {
      const reason = findReason(variant.needs);
      skip(reason !== undefined, reason);
      expectHere(await runForReal(variant, join(base, String(index)))).toBe("it ran");
    },
  );
});

const shellParser = createLazyShellParser();

const rulesFor = (decision: string) =>
  createEffectiveRules(
    parseRulePolicy([{ file: "r", text: `prefix_rule(pattern=["zap"], decision="${decision}")` }]),
    "/w",
  );
const FORBIDDEN = rulesFor("forbidden");
const PROMPT = rulesFor("prompt");

const analyze = ({ argv }: Variant) => analyzeCommand(fill(argv, "/w/zap"), undefined, shellParser);

const judge = (command: AnalyzedCommand, rules: ReturnType<typeof rulesFor>, approvalPolicy: "on-request" | "never") =>
  evaluateRequirement(command, { approvalPolicy, sandboxPermissions: "use_default", unrestricted: true, rules }).kind;

describe("is judged", () => {
  it.for(VARIANTS.map((variant, index) => [index, title(variant), variant] as const))(
    "%i %s",
    async ([, , variant]) => {
      const command = await analyze(variant);
      expect(judge(command, FORBIDDEN, "on-request")).not.toBe("skip");
      expect(judge(command, FORBIDDEN, "never")).toBe("forbidden");
      expect(judge(command, PROMPT, "on-request")).toBe("needsApproval");
      expect(judge(command, PROMPT, "never")).toBe("forbidden");
    },
  );

  it("forbids what is spelled out plainly, and asks about the rest", async () => {
    const kinds = await Promise.all(
      SPELLED.map(async (variant) => judge(await analyze(variant), FORBIDDEN, "on-request")),
    );
    const forbidden = kinds.filter((kind) => kind === "forbidden");
    expect(SPELLED.length).toBeGreaterThan(300);
    expect(forbidden.length).toBeGreaterThan(SPELLED.length / 3);
  });
});

describe("a way to run a program, in an everyday construct", () => {
  it("is not allowed by the text either", { timeout: 60_000 }, async () => {
    const scripts = VARIANTS.filter(({ argv }) => argv[1] === "-c");
    let seed = 1;
    const draw = <T>(from: readonly T[]): T => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return from[seed % from.length]!;
    };
    const allowed: string[] = [];
    for (let count = 0; count < 2_000; count += 1) {
      const variant = draw(scripts);
      const wrap = draw(CONSTRUCTS);
      const [shell = "", flag = "", script = ""] = fill(variant.argv, "/w/zap");
      const command = await analyzeCommand([shell, flag, wrap(draw(CONSTRUCTS)(script))], undefined, shellParser);
      if (judge(command, FORBIDDEN, "on-request") === "skip") allowed.push(wrap(script));
    }
    expect(allowed).toEqual([]);
  });
});

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const CONSTRUCTS: readonly ((script: string) => string)[] = [
  (script) => script,
  (script) => `if true; then\n${script}\nfi`,
  (script) => `for i in 1 2; do\n${script}\ndone`,
  (script) => `while true; do\n${script}\nbreak; done`,
  (script) => `case 1 in 1)\n${script}\n;; esac`,
  (script) => `f() {\n${script}\n}\nf a`,
  (script) => `(\n${script}\n)`,
  (script) => `x=$(\n${script}\n)`,
  (script) => `true && {\n${script}\n}`,
  (script) => `time {\n${script}\n}`,
  (script) => `{\n${script}\n} 2>&1 | tail -5`,
  (script) => `cd /tmp\n${script}\necho end`,
  (script) => `bash -c ${quote(script)}`,
  (script) => `sudo -u root sh -c ${quote(script)}`,
  (script) => `timeout 5 env A=1 bash -c ${quote(script)}`,
  (script) => `ssh h ${quote(script)}`,
  (script) => `find . -exec sh -c ${quote(script)} \\;`,
  (script) => `eval ${quote(script)}`,
  (script) => `trap ${quote(script)} EXIT`,
  (script) => `export X=${quote(script)}\nsh -c "$X"`,
  (script) => `cat <<'EOT' | bash\n${script}\nEOT`,
  (script) => `bash <<'EOT'\n${script}\nEOT`,
  (script) => `printf '%s\\n' ${quote(script)} > t.sh\nbash t.sh`,
  (script) => `cat > t.sh <<'EOT'\n${script}\nEOT\nchmod +x t.sh\n./t.sh`,
];

async function runForReal(variant: Variant, directory: string): Promise<string> {
  const work = join(directory, "work");
  const zap = join(directory, "zap");
  mkdirSync(work, { recursive: true });
  mkdirSync(`${zap}.d`);
  copyFileSync(realpathSync("/usr/bin/touch"), `${zap}.d/zap`);
  writeFileSync(zap, `#!/bin/sh\n: > '${directory}/ran'\n`);
  chmodSync(zap, 0o755);
  const [program = "", ...args] = fill(variant.argv, zap);
  const env = { PATH: `${directory}${delimiter}${process.env.PATH}`, HOME: directory, TERM: "xterm", LANG: "C.UTF-8" };
  const child = spawn(program, args, { cwd: work, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 60_000);
  await once(child, "exit");
  clearTimeout(timer);
  return existsSync(join(directory, "ran")) || existsSync(join(work, "x")) ? "it ran" : `it did not run: ${output}`;
}
