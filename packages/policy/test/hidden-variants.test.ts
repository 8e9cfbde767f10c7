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
