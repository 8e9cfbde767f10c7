import { resolve } from "node:path";
import type { Clock } from "@codex/clock";
import { createEnvironment, DEFAULT_EXCLUDES } from "@codex/exec-backend";
import { defined } from "@codex/values";
import { Child } from "./child.js";
import { ChildChannel, toProgramError } from "./child-channel.js";
import { guardGroup } from "./guard.js";
import type { EnvironmentLink } from "./link.js";
import { listUrlSecrets, MIN_SECRET_LENGTH } from "./redact.js";

/** A program that speaks the protocol of an exec-server or executor on its stdin and stdout. */
export interface LinkedCommand {
  /** Looked up in `PATH` unless it has a slash. Not interpreted by a shell. */
  program: string;
  args?: readonly string[];
  /** Added to the inherited variables, or replacing them. */
  env?: Readonly<Record<string, string>>;
  /** Names of further variables of `hostEnv` that it inherits; by default none that could be secret. */
  inherit?: readonly string[];
  /** Working directory, resolved against `home`. Default: the directory of this process. */
  cwd?: string;
  /** Absolute. Required for a relative `cwd`. */
  home?: string;
  /** The environment of this host. Default: that of this process. */
  hostEnv?: Readonly<Record<string, string | undefined>>;
  /** Called with each stderr line, without the secrets among `env` and `inherit`. */
  onLine?: (line: string) => void;
  clock?: Clock;
}

/**
 * Variables that a program inherits in addition to the core ones: they locate its settings and a background
 * server.
 */
const INHERITED = ["CODEX_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"];

/** Additional variables for ssh: the agent uses the keys without revealing them. */
const INHERITED_BY_SSH = ["SSH_AUTH_SOCK"];

/**
 * A link to a program, which is started for each channel, in its own process group, and ended with the channel: by closing
 * its stdin, then SIGTERM, then SIGKILL to its group. The group is also ended when this process is killed.
 */
export function createCommandLink(command: LinkedCommand): EnvironmentLink {
  const { program, args = [], cwd, home = process.cwd(), onLine, clock } = command;
  const env = createProgramEnvironment(command);
  const secrets = listSecrets(command, env);
  const channels = new Set<ChildChannel>();
  return {
    secrets,
    async open(signal) {
      const child = await Child.start(
        {
          program,
          args,
          env,
          cwd: cwd === undefined ? undefined : resolve(home, cwd),
          secrets,
          ...defined({ onLine, clock }),
        },
        signal,
      );
      if (child.pid !== undefined) void child.exited.then(guardGroup(child.pid, env));
      const channel = new ChildChannel(child, (how) =>
        toProgramError(program, how, child.stderrTail, saysGone(child.exitCode)),
      );
      channels.add(channel);
      void child.exited.then(() => channels.delete(channel));
      return { channel };
    },
    async close() {
      await Promise.all(Array.from(channels, (channel) => channel.close()));
    },
  };
}

/**
 * Whether a program that exits with this code says that its target is gone, such as a container that was removed. ssh exits with 255 when
 * it cannot connect, which may pass; after 0 and a signal the target may be there as well.
 */
const saysGone = (exitCode: number | undefined): boolean =>
  exitCode !== undefined && exitCode !== 0 && exitCode !== 255;

/** The variables of the program: the core variables of the host, the named ones, and `env`. */
function createProgramEnvironment({ program, env, inherit = [], hostEnv = process.env }: LinkedCommand) {
  const names = [...INHERITED, ...(/(^|\/)ssh$/.test(program) ? INHERITED_BY_SSH : []), ...inherit];
  const named = Object.fromEntries(
    names.flatMap((name) => (hostEnv[name] === undefined ? [] : [[name, hostEnv[name]]])),
  );
  const policy = { inherit: "core", ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] } as const;
  return createEnvironment({ ...policy, exclude: [], includeOnly: [] }, hostEnv, { ...named, ...env });
}

/** Values that errors and logs must not show, although the program may print them on stderr. */
function listSecrets(
  { env = {}, inherit = [], args = [] }: LinkedCommand,
  all: Readonly<Record<string, string>>,
): string[] {
  const named = [...Object.keys(env), ...inherit].filter((name) => SECRET_NAME.test(name));
  const given = args.flatMap((arg, at) => {
    const [, name = "", value] = /^-{0,2}([\w.-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    return SECRET_NAME.test(name) ? [value ?? args[at + 1] ?? ""] : [];
  });
  const values = [
    ...named.map((name) => all[name] ?? ""),
    ...given,
    ...args.filter((arg) => arg.includes("://")).flatMap(listUrlSecrets),
  ];
  return values.filter(({ length }) => length >= MIN_SECRET_LENGTH);
}

/** The names excluded by the default policy, and some more. */
const SECRET_NAME = new RegExp(
  [...DEFAULT_EXCLUDES.map((glob) => glob.replaceAll("*", "")), "PASSW", "CREDENTIAL"].join("|"),
  "i",
);
