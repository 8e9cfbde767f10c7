/** Carries `NODE_OPTIONS` past the Node of a `codex` that is started here, to the commands that are started there. */
const CARRIED = "CODEX_COMMANDS_NODE_OPTIONS";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of a `codex` that this process starts. Its Node gets no `NODE_OPTIONS`, which would load code into a process
 * that is in no sandbox (`--require`, `--import`, `--experimental-loader`); its commands get them as ever, by `takeNodeOptions`.
 */
export function withoutNodeOptions(env: Environment = process.env): Environment {
  const { NODE_OPTIONS, ...rest } = env;
  return NODE_OPTIONS === undefined ? env : { ...rest, [CARRIED]: NODE_OPTIONS };
}

/** Puts back what `withoutNodeOptions` carries: Node has started by now. Options that this process was given itself stay. */
export function takeNodeOptions(env: Record<string, string | undefined> = process.env): void {
  const carried = env[CARRIED];
  if (carried === undefined) return;
  delete env[CARRIED];
  env.NODE_OPTIONS ??= carried;
}
