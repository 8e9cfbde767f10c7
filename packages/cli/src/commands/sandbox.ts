import { resolve } from "node:path";
import type { Sandbox } from "@codex/executor-protocol";
import { createProgramRunner } from "@codex/orchestrator";
import { createCommandSandbox } from "@codex/sandbox";
import { attachExecutor } from "../connect.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { endAs, followProgram } from "../follow-program.js";
import { say } from "../notice.js";
import { describeDenial } from "../run-sandbox.js";
import { chooseTrialSandbox, type TrialOptions } from "../sandbox-trial.js";
import { DEFAULT_SIZE, getTerminalSize } from "../terminal.js";
import { visible } from "../visible.js";

export interface SandboxCommandOptions extends TrialOptions {
  cd?: string;
  tty?: boolean;
  explain: boolean;
  check: boolean;
}

/** Runs a program in a sandbox of this host, or describes that sandbox. */
export async function runSandbox(argv: readonly string[], options: SandboxCommandOptions): Promise<void> {
  if (options.check) return check(argv);
  const cwd = resolve(options.cd ?? ".");
  const sandbox = await chooseTrialSandbox(cwd, options);
  if (options.explain) {
    const { explainSandbox } = await import("../explain-sandbox.js");
    process.stdout.write(visible(await explainSandbox(sandbox, argv, cwd)));
    return;
  }
  if (argv.length === 0) throw new CommandError("no program was given: codex sandbox -- PROGRAM [ARGS…]", EXIT.usage);
  await run(argv, cwd, sandbox, options);
}

async function check(argv: readonly string[]): Promise<void> {
  if (argv.length > 0) throw new CommandError("--check takes no program", EXIT.usage);
  const { kind, problem } = await createCommandSandbox().getSupport();
  if (kind === "none") throw new CommandError(`no sandbox here: ${problem ?? "unknown"}`);
  process.stdout.write(`${kind}: works\n`);
}

async function run(
  argv: readonly string[],
  cwd: string,
  sandbox: Sandbox | null,
  options: SandboxCommandOptions,
): Promise<void> {
  if (sandbox === null) say("there is no sandbox in mode danger-full-access");
  const tty = options.tty ?? Boolean(process.stdin.isTTY && process.stdout.isTTY);
  const orchestrator = createProgramRunner();
  try {
    await attachExecutor(orchestrator, "sandbox", {});
    const followed = await followProgram(orchestrator, {
      argv,
      cwd,
      env: tty && process.env.TERM !== undefined ? { TERM: process.env.TERM } : {},
      envPolicy: { inherit: "all", ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] },
      tty,
      stdin: "open",
      ...(tty ? { size: getTerminalSize() ?? DEFAULT_SIZE } : {}),
      ...(sandbox === null ? {} : { sandbox }),
    });
    const { outcome } = followed;
    if (outcome.kind === "ended" && outcome.denial !== undefined) say(describeDenial(outcome.denial));
    await endAs(followed, () => orchestrator.close());
  } finally {
    await orchestrator.close();
  }
}
