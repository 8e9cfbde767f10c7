import { RpcError } from "@codex/channel";
import type { Sandbox } from "@codex/exec-server-protocol";
import { ERROR_CODES, toNativeSandbox } from "@codex/exec-server-protocol";
import { type CommandSandbox, createCommandSandbox } from "@codex/sandbox";
import { messageOf } from "@codex/values";
import type { FileSystemLimits } from "../limits.js";
import { Helper } from "./helper.js";
import { defaultHelperCommand, type HelperCommand } from "./helper-command.js";
import { HELPER_IDLE_MS, MAX_HELPERS, RESERVING_HELPER_IDLE_MS } from "./limits.js";
import { type HelperProfile, resolveForHelper } from "./resolve-for-helper.js";
import type { SandboxedFiles, SandboxLease, SandboxLeases } from "./sandboxed-files.js";

/** Collaborators of `createSandboxedFiles`. */
export interface SandboxedFilesOptions {
  /** Wraps the helper; default the sandbox of this host. */
  sandbox?: CommandSandbox;
  /** The helper program, resolved on first use; default the program of this package. */
  getHelper?: () => HelperCommand;
}

/** Runs sandboxed file calls in helper processes: one for each sandbox, reused by the calls that follow. */
export function createSandboxedFiles(options: SandboxedFilesOptions = {}): SandboxedFiles {
  const { sandbox = createCommandSandbox(), getHelper = () => defaultHelperCommand() } = options;
  return { connect: (limits) => new HelperPool(sandbox, getHelper, limits) };
}

interface Entry {
  /** Of the profile that the helper was started with. */
  readonly fingerprint: string;
  readonly started: Promise<Helper>;
  helper: Helper | undefined;
  /** Leases that are not released. */
  leases: number;
  /** Those of them that are pinned. */
  pinned: number;
  idle: NodeJS.Timeout | undefined;
}

class HelperPool implements SandboxLeases {
  readonly #sandbox: CommandSandbox;
  readonly #getHelper: () => HelperCommand;
  readonly #limits: FileSystemLimits;
  /** The least recently used first. */
  readonly #entries = new Set<Entry>();
  readonly #ending = new Set<Promise<void>>();
  #onRelease: (() => void)[] = [];
  #disposed = false;

  constructor(sandbox: CommandSandbox, getHelper: () => HelperCommand, limits: FileSystemLimits) {
    this.#sandbox = sandbox;
    this.#getHelper = getHelper;
    this.#limits = limits;
  }

  async acquire(method: string, sandbox: Sandbox): Promise<SandboxLease | undefined> {
    const { permissions } = sandbox;
    // The sandbox does not restrict files, or an outer sandbox already applies to this process.
    if (permissions.type !== "managed" || permissions.file_system.type === "unrestricted") return undefined;
    requireCwd(sandbox);
    const native = toNativeSandbox(sandbox);
    try {
      const support = await this.#sandbox.getSupport();
      if (support.kind === "none") throw new Error(`this host cannot sandbox it: ${support.problem}`);
      const entry = await this.#leaseEntry(() => resolveForHelper(native, this.#sandbox, this.#getHelper()));
      const helper = await this.#await(entry);
      return this.#lease(entry, helper);
    } catch (cause) {
      if (cause instanceof RpcError) throw cause;
      const problem = messageOf(cause);
      throw new RpcError(ERROR_CODES.internal, `${method} was refused: ${problem}`, { cause });
    }
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    for (const entry of this.#entries) this.#end(entry);
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  /** The helper for the profile as it resolves now, with a lease counted. */
  async #leaseEntry(resolve: () => Promise<HelperProfile>): Promise<Entry> {
    for (;;) {
      // Resolved on each attempt: protected paths may have been created in the meantime.
      const profile = await resolve();
      if (this.#disposed) throw new Error("the connection is gone");
      for (const entry of this.#entries) if (entry.helper?.isUsable === false) this.#end(entry);
      const found = [...this.#entries].find(({ fingerprint }) => fingerprint === profile.fingerprint);
      const entry = found ?? (this.#hasRoom() ? this.#start(profile) : undefined);
      if (entry !== undefined) {
        entry.leases += 1;
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
    const unused = [...this.#entries].find(({ leases }) => leases === 0);
    if (unused === undefined) return false;
    this.#end(unused);
    return true;
  }

  async #untilFree(): Promise<void> {
    if ([...this.#entries].every(({ pinned }) => pinned > 0)) {
      throw new RpcError(
        ERROR_CODES.invalidRequest,
        `file handles are open under ${MAX_HELPERS} different sandboxes; a connection has at most ${MAX_HELPERS}`,
      );
    }
    await new Promise<void>((resolve) => this.#onRelease.push(resolve));
  }

  #start({ fingerprint, sandbox, command }: HelperProfile): Entry {
    const start = async () => {
      const wrapped = await this.#sandbox.wrap(command, sandbox);
      if (wrapped === undefined) throw new Error("the sandbox restricts nothing");
      return new Helper(wrapped, this.#limits);
    };
    const entry: Entry = { fingerprint, started: start(), helper: undefined, leases: 0, pinned: 0, idle: undefined };
    this.#entries.add(entry);
    return entry;
  }

  async #await(entry: Entry): Promise<Helper> {
    try {
      entry.helper = await entry.started;
      return entry.helper;
    } catch (error) {
      this.#entries.delete(entry);
      this.#release(entry);
      throw error;
    }
  }

  #lease(entry: Entry, helper: Helper): SandboxLease {
    let isReleased = false;
    let isPinned = false;
    return {
      call: (method, params) => helper.call(method, params),
      pin: () => {
        if (!isPinned) entry.pinned += 1;
        isPinned = true;
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        if (isPinned) entry.pinned -= 1;
        this.#release(entry);
      },
    };
  }

  #release(entry: Entry): void {
    entry.leases -= 1;
    if (entry.leases === 0 && this.#entries.has(entry)) {
      const idleMs = entry.helper?.reservesPaths ? RESERVING_HELPER_IDLE_MS : HELPER_IDLE_MS;
      entry.idle = setTimeout(() => this.#end(entry), idleMs);
      entry.idle.unref();
    }
    for (const wake of this.#onRelease.splice(0)) wake();
  }

  /** Removes the helper from the pool; running calls are answered before it ends. */
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

/** As Codex does: these special paths are relative to a directory. */
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
