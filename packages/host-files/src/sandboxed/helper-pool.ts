import { RpcError } from "@codex/channel";
import type { Sandbox } from "@codex/exec-server-protocol";
import { ERROR_CODES, toNativeSandbox } from "@codex/exec-server-protocol";
import { type CommandSandbox, createCommandSandbox } from "@codex/sandbox";
import type { FileSystemLimits } from "../limits.js";
import { Helper } from "./helper.js";
import { defaultHelperCommand, type HelperCommand } from "./helper-command.js";
import { HELPER_IDLE_MS, HOLDING_HELPER_IDLE_MS, MAX_HELPERS } from "./limits.js";
import { type HelperProfile, resolveForHelper } from "./resolve-for-helper.js";
import type { ConnectionSandboxes, SandboxedFiles, SandboxPlace } from "./sandboxed-files.js";

export interface SandboxedFilesOptions {
  sandbox?: CommandSandbox;
  /** What runs within a sandbox, asked for when the first one is needed; default a program of this package. */
  getHelper?: () => HelperCommand;
}

/** Starts a helper for each sandbox that is asked for, and keeps it for the calls that follow. */
export function createSandboxedFiles(options: SandboxedFilesOptions = {}): SandboxedFiles {
  const { sandbox = createCommandSandbox(), getHelper = () => defaultHelperCommand() } = options;
  return { connect: (limits) => new HelperPool(sandbox, getHelper, limits) };
}

interface Entry {
  /** Of the profile it was started with. */
  readonly fingerprint: string;
  readonly started: Promise<Helper>;
  helper: Helper | undefined;
  /** Callers that have entered and not left. */
  uses: number;
  /** Those that keep a handle open. */
  kept: number;
  idle: NodeJS.Timeout | undefined;
}

class HelperPool implements ConnectionSandboxes {
  readonly #sandbox: CommandSandbox;
  readonly #getHelper: () => HelperCommand;
  readonly #limits: FileSystemLimits;
  /** The least recently used first. */
  readonly #entries = new Set<Entry>();
  readonly #ending = new Set<Promise<void>>();
  #onLeave: (() => void)[] = [];
  #disposed = false;

  constructor(sandbox: CommandSandbox, getHelper: () => HelperCommand, limits: FileSystemLimits) {
    this.#sandbox = sandbox;
    this.#getHelper = getHelper;
    this.#limits = limits;
  }

  async enter(method: string, sandbox: Sandbox): Promise<SandboxPlace | undefined> {
    const { permissions } = sandbox;
    // Nothing is said of files, or something outside holds this process.
    if (permissions.type !== "managed" || permissions.file_system.type === "unrestricted") return undefined;
    requireCwd(sandbox);
    const native = toNativeSandbox(sandbox);
    try {
      const support = await this.#sandbox.getSupport();
      if (support.kind === "none") throw new Error(`this host cannot sandbox it: ${support.problem}`);
      const entry = await this.#enter(() => resolveForHelper(native, this.#sandbox, this.#getHelper()));
      const helper = await this.#await(entry);
      return this.#place(entry, helper);
    } catch (cause) {
      if (cause instanceof RpcError) throw cause;
      const problem = cause instanceof Error ? cause.message : String(cause);
      throw new RpcError(ERROR_CODES.internal, `${method} was refused: ${problem}`, { cause });
    }
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    for (const entry of this.#entries) this.#end(entry);
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  /** A helper that holds for what the profile is now, counted as used. */
  async #enter(resolve: () => Promise<HelperProfile>): Promise<Entry> {
    for (;;) {
      // Anew each time: what is protected may have come into being meanwhile.
      const profile = await resolve();
      if (this.#disposed) throw new Error("the connection is gone");
      for (const entry of this.#entries) if (entry.helper?.isUsable === false) this.#end(entry);
      const found = [...this.#entries].find(({ fingerprint }) => fingerprint === profile.fingerprint);
      const entry = found ?? (this.#hasRoom() ? this.#start(profile) : undefined);
      if (entry !== undefined) {
        entry.uses += 1;
        clearTimeout(entry.idle);
        this.#entries.delete(entry);
        this.#entries.add(entry);
        return entry;
      }
      await this.#untilFree();
    }
  }

  #hasRoom(): boolean {
    if (this.#entries.size < MAX_HELPERS) return true;
    const unused = [...this.#entries].find(({ uses }) => uses === 0);
    if (unused === undefined) return false;
    this.#end(unused);
    return true;
  }

  async #untilFree(): Promise<void> {
    if ([...this.#entries].every(({ kept }) => kept > 0)) {
      throw new RpcError(
        ERROR_CODES.invalidRequest,
        `file handles are open under ${MAX_HELPERS} different sandboxes; a connection has at most ${MAX_HELPERS}`,
      );
    }
    await new Promise<void>((resolve) => this.#onLeave.push(resolve));
  }

  #start({ fingerprint, sandbox, command }: HelperProfile): Entry {
    const start = async () => {
      const wrapped = await this.#sandbox.wrap(command, sandbox);
      if (wrapped === undefined) throw new Error("the sandbox holds nothing back");
      return new Helper(wrapped, this.#limits);
    };
    const entry: Entry = { fingerprint, started: start(), helper: undefined, uses: 0, kept: 0, idle: undefined };
    this.#entries.add(entry);
    return entry;
  }

  async #await(entry: Entry): Promise<Helper> {
    try {
      entry.helper = await entry.started;
      return entry.helper;
    } catch (error) {
      this.#entries.delete(entry);
      this.#leave(entry);
      throw error;
    }
  }

  #place(entry: Entry, helper: Helper): SandboxPlace {
    let inside = true;
    let kept = false;
    return {
      call: (method, params) => helper.call(method, params),
      keep: () => {
        if (!kept) entry.kept += 1;
        kept = true;
      },
      leave: () => {
        if (!inside) return;
        inside = false;
        if (kept) entry.kept -= 1;
        this.#leave(entry);
      },
    };
  }

  #leave(entry: Entry): void {
    entry.uses -= 1;
    if (entry.uses === 0 && this.#entries.has(entry)) {
      const idleMs = entry.helper?.holdsNames ? HOLDING_HELPER_IDLE_MS : HELPER_IDLE_MS;
      entry.idle = setTimeout(() => this.#end(entry), idleMs);
      entry.idle.unref();
    }
    for (const wake of this.#onLeave.splice(0)) wake();
  }

  /** Takes no more calls; those under way are answered while it ends. */
  #end(entry: Entry): void {
    clearTimeout(entry.idle);
    this.#entries.delete(entry);
    const ending = entry.started.then(
      (helper) => helper.end(),
      () => {},
    );
    this.#ending.add(ending);
    void ending.then(() => this.#ending.delete(ending));
  }
}

/** As Codex: these names mean nothing without a directory. */
function requireCwd({ permissions, cwd, policyContext }: Sandbox): void {
  if (permissions.type !== "managed" || permissions.file_system.type !== "restricted") return;
  if (cwd !== undefined || policyContext !== undefined) return;
  const isDynamic = permissions.file_system.entries.some(
    ({ path }) =>
      path.type === "special" &&
      (path.value.kind === "project_roots" || path.value.kind === "current_working_directory"),
  );
  if (!isDynamic) return;
  const text = "file system sandbox context with dynamic permissions requires cwd";
  throw new RpcError(ERROR_CODES.invalidParams, text);
}
