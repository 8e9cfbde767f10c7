import { constants } from "node:os";
import type { FileAccessOptions, Orchestrator, RunOutcome, StartedCommand } from "@codex/orchestrator";
import { defined } from "@codex/values";
import type { Experimental_SandboxProcess, Experimental_SandboxSession } from "ai";
import { collectOutput, toStream } from "./collected-output.js";

/** Options of `codexSandbox`. */
export interface CodexSandboxOptions {
  /** Environment to use. Default: the orchestrator's first. */
  environment?: string;
  /** Absolute path on the environment's host: the default directory of commands, and of relative paths. */
  cwd?: string;
  /** Client name, where several clients share the orchestrator. */
  client?: string;
}

/**
 * An environment as the experimental sandbox of `ai` 7. The orchestrator's policy and approver apply to commands and files. Methods
 * reject for what was refused or lost, as there is no exit code for it. The exit code of a command ended by a signal is 128 + its number.
 */
export function codexSandbox(
  orchestrator: Pick<Orchestrator, "startCommand" | "files">,
  options: CodexSandboxOptions = {},
): Experimental_SandboxSession {
  const { environment, cwd, client } = options;
  const { files } = orchestrator;
  const place = (signal: AbortSignal | undefined): FileAccessOptions => defined({ environment, cwd, client, signal });
  const start = (request: SpawnRequest) => startCommand(orchestrator, request, place(request.abortSignal));
  const read = async ({ path, abortSignal }: PathRequest) => {
    const found = await files.stat(path, place(abortSignal));
    return found === undefined ? null : files.read(path, place(abortSignal));
  };
  const write = ({ path, abortSignal }: PathRequest, content: Uint8Array) =>
    files.write(path, content, place(abortSignal));
  return {
    description: `Commands and files on ${environment ?? "a host"}${cwd === undefined ? "" : `, in ${cwd}`}, under a policy that may refuse some.`,
    async run(request) {
      const command = await start(request);
      const output = Promise.all([collectOutput(command.stdout), collectOutput(command.stderr)]);
      const [stdout, stderr] = await output;
      const { exitCode, note } = toExit(await command.ended);
      return { exitCode, stdout, stderr: `${stderr}${note}` };
    },
    // One implementation for all overloads: with `stdin: true` the returned process has a stream for it.
    spawn: (async (request: SpawnRequest) =>
      toProcess(await start(request), request.stdin === true)) as unknown as Experimental_SandboxSession["spawn"],
    async readFile(request) {
      const bytes = await read(request);
      return bytes === null ? null : new Blob([Buffer.from(bytes)]).stream();
    },
    readBinaryFile: read,
    async readTextFile({ encoding, startLine = 1, endLine = Number.POSITIVE_INFINITY, ...request }) {
      const bytes = await read(request);
      if (bytes === null) return null;
      const text = new TextDecoder(encoding).decode(bytes);
      if (startLine === 1 && endLine === Number.POSITIVE_INFINITY) return text;
      return text
        .split("\n")
        .slice(startLine - 1, endLine)
        .join("\n");
    },
    writeFile: async ({ content, ...request }) =>
      write(request, new Uint8Array(await new Response(content).arrayBuffer())),
    writeBinaryFile: ({ content, ...request }) => write(request, content),
    writeTextFile: ({ content, encoding = "utf8", ...request }) => {
      if (!Buffer.isEncoding(encoding)) throw new TypeError(`encoding ${JSON.stringify(encoding)} is unknown`);
      return write(request, Buffer.from(content, encoding));
    },
    async stat({ path, abortSignal }) {
      const found = await files.stat(path, place(abortSignal));
      return found === undefined ? null : { type: found.kind, size: found.size };
    },
    async listDirectory({ path, abortSignal }) {
      const found = await files.stat(path, place(abortSignal));
      if (found === undefined) return null;
      const entries = await files.list(path, place(abortSignal));
      return entries.map(({ name, kind }) => ({ name, type: kind }));
    },
    deleteFile: ({ path, abortSignal }) => files.remove(path, place(abortSignal)),
  };
}

interface PathRequest {
  path: string;
  abortSignal?: AbortSignal;
}

interface SpawnRequest {
  command: string;
  workingDirectory?: string;
  env?: Record<string, string>;
  abortSignal?: AbortSignal;
  stdin?: boolean;
}

/** @throws Error with the reason why the command does not run */
async function startCommand(
  orchestrator: Pick<Orchestrator, "startCommand">,
  { command: cmd, workingDirectory, env, stdin = false }: SpawnRequest,
  { environment, ...place }: FileAccessOptions,
): Promise<StartedCommand> {
  const command = orchestrator.startCommand(
    {
      cmd,
      stdin: stdin ? "open" : "null",
      ...defined({ env, cwd: workingDirectory, environment }),
    },
    place,
  );
  const started = await command.started;
  if (started.kind === "started") return command;
  throw new Error(started.kind === "refused" ? started.result.text : started.reason);
}

function toProcess(command: StartedCommand, hasStdin: boolean): Experimental_SandboxProcess {
  const stdin = () =>
    new WritableStream<Uint8Array>({ write: (bytes) => command.write(bytes), close: () => command.closeStdin() });
  return {
    stdout: toStream(command.stdout),
    stderr: toStream(command.stderr),
    async wait() {
      const { exitCode } = toExit(await command.ended);
      return { exitCode };
    },
    // Fails if the process has ended already.
    kill: () => command.signal("kill").catch(() => {}),
    ...(hasStdin ? { stdin: stdin() } : {}),
  };
}

/** @throws Error when it is unknown how the command ended */
function toExit(outcome: RunOutcome): { exitCode: number; note: string } {
  if (outcome.kind !== "ended") throw new Error(outcome.reason);
  const { outcome: end } = outcome;
  if (end.kind === "exited") return { exitCode: end.code, note: "" };
  if (end.kind !== "signaled") throw new Error("reason" in end ? end.reason : "how it ended is unknown");
  const number = new Map(Object.entries(constants.signals)).get(end.signal as NodeJS.Signals) ?? 0;
  return { exitCode: 128 + number, note: `[ended by ${end.signal}]\n` };
}
