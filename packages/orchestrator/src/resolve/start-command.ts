import { FIRST_WINDOW_MS } from "@codex/executor-client/programs";
import { defined } from "@codex/values";
import type { StartCommandRequest } from "../programs/started-command.js";
import { type ResolveContext, type ResolvedExec, resolveExecCommand } from "./exec-command.js";
import { type Resolved, rejected } from "./resolved.js";

/** A program, as it is judged and as it is sent. */
export interface ResolvedProgram {
  /** With its variables as arguments of `env`: like arguments, they determine what a program does. */
  judged: ResolvedExec;
  /** The argv without them. */
  argv: readonly string[];
}

/** Resolves the request for a program like that of a model's command. */
export function resolveStartCommand(request: StartCommandRequest, context: ResolveContext): Resolved<ResolvedProgram> {
  const { argv, cmd, env = {} } = request;
  const problem = findProblem(request);
  if (problem !== undefined) return problem;
  const resolved = resolveExecCommand(
    {
      cmd: cmd ?? "",
      workdir: request.cwd,
      shell: request.shell,
      login: request.login,
      tty: request.tty,
      stdin: request.stdin,
      timeout_ms: request.timeoutMs,
      limits: request.limits,
      sandbox_permissions: request.sandboxPermissions,
      justification: request.justification,
    },
    context,
  );
  if (resolved.kind === "rejected") return resolved;
  const { shellSnapshot, ...common } = resolved.value.request;
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const own = argv === undefined ? common.command : [...argv];
  const command = assignments.length === 0 ? own : ["env", ...assignments, ...own];
  return {
    kind: "ok",
    value: {
      judged: {
        ...resolved.value,
        notices: [],
        request: {
          ...common,
          ...(shellSnapshot === undefined || argv !== undefined ? {} : { shellSnapshot }),
          ...defined({ size: request.size }),
          command,
          env: { ...common.env, ...env },
          yieldTimeMs: FIRST_WINDOW_MS,
          maxOutputTokens: 0,
          // No output is lost while its reader is slow.
          whenFull: "pause",
        },
      },
      argv: own,
    },
  };
}

function findProblem({ argv, cmd, env = {} }: StartCommandRequest) {
  if ((argv === undefined) === (cmd === undefined)) return rejected("argv", "expected either `argv` or `cmd`");
  if (argv !== undefined && (argv.length === 0 || argv[0] === "")) {
    return rejected("argv", "expected a program and its arguments, got none");
  }
  const words = [...(argv ?? []), cmd ?? "", ...Object.values(env)];
  if (words.some((word) => word.includes("\0"))) return rejected("argv", "expected text without NUL characters");
  const name = Object.keys(env).find((one) => !/^[A-Za-z_][^=\0]*$/.test(one));
  if (name === undefined) return undefined;
  return rejected("env", `expected names that begin with a letter or _ and have no =, got ${JSON.stringify(name)}`);
}
