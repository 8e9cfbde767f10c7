import { visible } from "@codex/agent-terminal/text";
import { createProgramRunner, type RunCommandRequest } from "@codex/orchestrator";
import { createCommandSandbox } from "@codex/sandbox";
import { defined } from "@codex/values";
import { attachExecutor } from "../connect.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { endAs, followProgram } from "../foreground/follow-program.js";
import { DEFAULT_SIZE, getTerminalSize } from "../foreground/terminal.js";
import { print, say } from "../notice.js";
import { type FeatureFlags, openConfig, settingsOf } from "../open-config.js";
import { resolveDirectory } from "../own-directory.js";
import { describeDenial } from "../run-sandbox.js";
import { chooseTrialSandbox, readSandboxState, type TrialOptions } from "../sandbox-trial.js";

export interface SandboxCommandOptions extends TrialOptions, FeatureFlags {
  config?: string[];
  cd?: string;
  environment?: string;
  tty?: boolean;
  explain: boolean;
  check: boolean;
}

/** Runs a program in a sandbox of this host, or describes that sandbox. */
export async function runSandbox(argv: readonly string[], given: SandboxCommandOptions): Promise<void> {
  const options = { ...given, config: settingsOf(given) };
  if (options.environment !== undefined && options.environment !== "local") return runElsewhere(argv, options);
  if (options.check) return check(argv);
  const state =
    options.sandboxStateJson === undefined ? undefined : readSandboxState(options.sandboxStateJson, options);
  const cwd = resolveDirectory(state?.cwd ?? options.cd);
  // That of an environment is for programs there.
  const chosen = state ?? (await chooseTrialSandbox(cwd, { ...options, environmentProfile: undefined }));
  if (options.explain) {
    const { explainSandbox } = await import("../explain-sandbox.js");
    print(visible(await explainSandbox(chosen.sandbox ?? null, argv, cwd)));
    return;
  }
  if (argv.length === 0) throw new CommandError("no program was given: codex sandbox -- PROGRAM [ARGS…]", EXIT.usage);
  await run(argv, cwd, chosen, options);
}

/** Runs a program in a sandbox on the host of an environment, with the settings of this host. */
async function runElsewhere(argv: readonly string[], options: SandboxCommandOptions): Promise<void> {
  const { check, explain, profileJson, sandboxStateJson, network, writableRoot, deny, environment, cd, tty } = options;
  const complete = profileJson ?? sandboxStateJson;
  if (check || explain || network || complete !== undefined || writableRoot.length > 0 || deny.length > 0) {
    throw new CommandError(
      "--environment can be combined with --cd, --sandbox, --tty and settings; the other options concern this host",
      EXIT.usage,
    );
  }
  if (argv.length === 0) throw new CommandError("no program was given: codex sandbox -- PROGRAM [ARGS…]", EXIT.usage);
  const { runRun } = await import("./run.js");
  const { settings } = await openConfig(options);
  const { mode = "read-only", profile } = settings.sandbox;
  if (mode === "danger-full-access") say("there is no sandbox in mode danger-full-access");
  await runRun([...argv], {
    ...(profile === undefined ? { sandbox: mode } : { permissionProfile: profile.name }),
    env: [],
    recordInput: false,
    ...defined({ environment, cwd: cd, tty }),
  });
}

async function check(argv: readonly string[]): Promise<void> {
  if (argv.length > 0) throw new CommandError("--check takes no program", EXIT.usage);
  const { kind, problem } = await createCommandSandbox().getSupport();
  if (kind === "none") throw new CommandError(`no sandbox here: ${problem ?? "unknown"}`);
  print(`${kind}: works\n`);
}

async function run(
  argv: readonly string[],
  cwd: string,
  chosen: Pick<RunCommandRequest, "sandbox" | "network">,
  options: SandboxCommandOptions,
): Promise<void> {
  if (chosen.sandbox === undefined) say("there is no sandbox in mode danger-full-access");
  const tty = options.tty ?? Boolean(process.stdin.isTTY && process.stdout.isTTY);
  const orchestrator = createProgramRunner();
  try {
    await attachExecutor(orchestrator, "sandbox", {});
    const followed = await followProgram(
      orchestrator,
      {
        argv,
        cwd,
        env: tty && process.env.TERM !== undefined ? { TERM: process.env.TERM } : {},
        envPolicy: { inherit: "all", ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] },
        tty,
        stdin: "open",
        ...(tty ? { size: getTerminalSize() ?? DEFAULT_SIZE } : {}),
        ...chosen,
      },
      { say },
    );
    const { outcome } = followed;
    if (outcome.kind === "ended" && outcome.denial !== undefined) say(describeDenial(outcome.denial));
    await endAs(followed, () => orchestrator.close());
  } finally {
    await orchestrator.close();
  }
}
