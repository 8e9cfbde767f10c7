import type { ExecBackend, ProcessSpec } from "@codex/exec-backend";
import type { ExecCommandRequest, UnifiedExecResult } from "@codex/executor-protocol";
import { createShellSnapshots, keepDirectory, type ShellSnapshots } from "@codex/shell-snapshot";

export type StartupNote = NonNullable<UnifiedExecResult["shellStartup"]>;

/** Starts login shells from snapshots where a request allows it. Owns the snapshots until `close`. */
export class ShellStartups {
  readonly #backend: ExecBackend;
  readonly #env: Readonly<Record<string, string | undefined>>;
  #snapshots: ShellSnapshots | undefined;

  constructor(backend: ExecBackend, env: Readonly<Record<string, string | undefined>>) {
    this.#backend = backend;
    this.#env = env;
  }

  /** The spec to start, with a note for the result of a request with `shellSnapshot`. */
  async apply(request: ExecCommandRequest, given: ProcessSpec): Promise<{ spec: ProcessSpec; note?: StartupNote }> {
    const spec = { ...given, argv: keepDirectory(given) };
    if (request.shellSnapshot !== true) return { spec };
    if (this.#backend.appliesEnvPolicy) {
      return {
        spec,
        note: { kind: "login", reason: "commands run on another host, which has no snapshots for this one" },
      };
    }
    this.#snapshots ??= createShellSnapshots({ backend: this.#backend, env: this.#env });
    const startup = await this.#snapshots.find({ ...given, envPolicy: request.envPolicy, overlay: request.env });
    if (startup.kind === "login") return { spec, note: startup };
    const { argv, env } = startup;
    return { spec: { ...given, argv, env }, note: { kind: "snapshot" } };
  }

  async close(): Promise<void> {
    await this.#snapshots?.close();
  }
}
