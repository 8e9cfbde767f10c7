/** Carries `NODE_OPTIONS` through a `codex` child, whose own Node must not see it, to the commands that the child starts. */
const CARRIED = "CODEX_COMMANDS_NODE_OPTIONS";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of a `codex` that this process starts. Its Node gets no `NODE_OPTIONS`, which would load code into a process
 * outside of every sandbox (`--require`, `--import`, `--experimental-loader`); `takeNodeOptions` restores them for its commands.
 */
export function withoutNodeOptions(env: Environment = process.env): Environment {
  const { NODE_OPTIONS, ...rest } = env;
  return NODE_OPTIONS === undefined ? env : { ...rest, [CARRIED]: NODE_OPTIONS };
}

/** Restores what `withoutNodeOptions` carried, now that Node has started. An existing `NODE_OPTIONS` is kept. */
export function takeNodeOptions(env: Record<string, string | undefined> = process.env): void {
  const carried = env[CARRIED];
  if (carried === undefined) return;
  delete env[CARRIED];
  env.NODE_OPTIONS ??= carried;
}
