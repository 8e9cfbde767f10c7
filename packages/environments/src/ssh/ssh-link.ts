import { randomBytes } from "node:crypto";
import { Backoff, type Clock, pause, systemClock } from "@codex/clock";
import { createEnvironment } from "@codex/exec-backend";
import { ClientError } from "@codex/exec-server-client";
import { defined } from "@codex/values";
import type { SshUrl } from "../config/ssh-url.js";
import { FIRST_SSH_RETRY_MS, INSTALL_MS, LONGEST_SSH_RETRY_MS, PROMPT_MS, SSH_CONNECT_MS } from "../limits.js";
import { Child } from "../links/child.js";
import { ChildChannel } from "../links/child-channel.js";
import type { EnvironmentLink } from "../links/link.js";
import { LinkError } from "../links/link-error.js";
import { explainSshFailure } from "./failure.js";
import { renderHost } from "./host-name.js";
import { createScript, NODE_PLACES } from "./script.js";
import { type BundleTarget, listDigests, packBundle, type ServerBundle } from "./server-bundle.js";
import { ENDED, readStatus, StatusError, type StatusLine, type StatusOptions } from "./status-line.js";

/** How a host is reached by ssh, and the server to install there. */
export interface SshLinkOptions {
  address: SshUrl;
  /** A function is called after ssh was started. */
  bundle: ServerBundle | (() => ServerBundle);
  /** The local ssh program, and options to put before those of the link. Default: `ssh`, which reads the user's configuration. */
  ssh?: readonly [program: string, ...args: string[]];
  /** Milliseconds to connect and to log in. Default 15000. */
  connectTimeoutMs?: number | undefined;
  /** Whether ssh may prompt at the terminal of this process, for a password or an unknown host. Only until the first success. */
  isInteractive?: boolean;
  /** Called at the start of long steps with a sentence for display, without a full stop. */
  onProgress?: (what: string) => void;
  /** Called with each stderr line of ssh. */
  onLine?: (line: string) => void;
  /** The environment of this host. Default: that of this process. Variables that may be secret are not passed to ssh. */
  hostEnv?: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
  /** Returns 0 to 1; jitter for the pauses between failed attempts. */
  random?: () => number;
}

/**
 * A link to the user's background exec-server on a host reached by ssh. The host needs only Node: a missing server is
 * installed. There is one ssh process for each channel; the server and its sessions outlive it.
 */
export function createSshLink(options: SshLinkOptions): EnvironmentLink {
  const link = new SshLink(options);
  return { open: (signal) => link.open(signal), close: () => link.close() };
}

class SshLink {
  readonly #options: SshLinkOptions;
  readonly #name: string;
  readonly #children = new Set<Child>();
  readonly #backoff: Backoff;
  /** Pause before the next attempt, milliseconds. */
  #pauseMs = 0;
  #hasConnected = false;
  #bundle: ServerBundle | undefined;
  #digests: Promise<string[]> | undefined;

  constructor(options: SshLinkOptions) {
    this.#options = options;
    const { random = Math.random } = options;
    this.#backoff = new Backoff({ firstMs: FIRST_SSH_RETRY_MS, longestMs: LONGEST_SSH_RETRY_MS, random });
    this.#name = renderHost(options.address);
  }

  async open(signal: AbortSignal) {
    if (this.#pauseMs > 0) await pause(this.#options.clock ?? systemClock, this.#pauseMs, signal);
    try {
      const channel = await this.#connect(signal);
      this.#backoff.reset();
      this.#pauseMs = 0;
      this.#hasConnected = true;
      return { channel, serves: "exec-server" as const };
    } catch (error) {
      this.#pauseMs = this.#backoff.next();
      // Repeatedly refused logins could get this host banned.
      if (this.#hasConnected && error instanceof LinkError && error.code === "unauthorized") {
        throw new ClientError("session_lost", error.message, { cause: error });
      }
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#children, (child) => child.end()));
  }

  async #connect(signal: AbortSignal): Promise<ChildChannel> {
    const { clock } = this.#options;
    const isInteractive = this.#options.isInteractive === true && !this.#hasConnected;
    const child = await this.#start(isInteractive, signal);
    const mark = `codex-ts-${randomBytes(8).toString("hex")}`;
    const { connectTimeoutMs = SSH_CONNECT_MS } = this.#options;
    // The time limit covers the login and the start of the remote shell.
    const timeoutMs = isInteractive ? PROMPT_MS : 2 * connectTimeoutMs;
    const wait: StatusOptions = { mark, signal, timeoutMs, clock };
    try {
      const bundle = this.#openBundle();
      this.#digests ??= listDigests(bundle);
      child.stdin.write(createScript(bundle.id, mark, await this.#digests));
      let status = await readStatus(child.stdout, wait);
      if (status.word === "missing") {
        await this.#send(child, bundle, parseTarget(status.text));
        status = await readStatus(child.stdout, { ...wait, timeoutMs: INSTALL_MS });
        if (status.word === "installed") this.#report(`the server is installed on ${this.#name}`);
      }
      if (status.word !== "ready" && status.word !== "installed") throw await this.#explain(child, status);
      return new ChildChannel(child, (how) => this.#explainLoss(child, how));
    } catch (error) {
      // No server is running there that needs to end gracefully.
      void child.end(0);
      if (signal.aborted) throw signal.reason;
      throw error instanceof StatusError ? this.#explainSilence(child, error) : error;
    }
  }

  async #start(isInteractive: boolean, signal: AbortSignal): Promise<Child> {
    const { ssh = ["ssh"], hostEnv = process.env, onLine, clock } = this.#options;
    const [program, ...own] = ssh;
    const env = createSshEnvironment(hostEnv);
    const args = [...own, ...createArguments(this.#options, isInteractive)];
    // Only a process of this session can prompt at the terminal; Ctrl-C there must not reach ssh.
    const asking = ["-c", 'trap "" INT QUIT; exec "$@"', "sh", program, ...args];
    const child = await Child.start(
      {
        ...(isInteractive ? { program: "/bin/sh", args: asking } : { program, args }),
        env,
        // The user's configuration may name programs that load code from where they start.
        cwd: "/",
        onLine,
        ownGroup: !isInteractive,
        ...defined({ clock }),
      },
      signal,
    );
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    return child;
  }

  #openBundle(): ServerBundle {
    const { bundle } = this.#options;
    this.#bundle ??= typeof bundle === "function" ? bundle() : bundle;
    return this.#bundle;
  }

  async #send(child: Child, bundle: ServerBundle, target: BundleTarget): Promise<void> {
    const { files, lacks } = await bundle.listFiles(target);
    const { head, body } = await packBundle(files);
    const kilobytes = Math.ceil(body.length / 1024);
    this.#report(`installing the server on ${this.#name}, which has none of this version: ${kilobytes} KiB`);
    if (lacks !== undefined) this.#report(lacks);
    child.stdin.write(head);
    child.stdin.write(body);
  }

  #report(what: string): void {
    this.#options.onProgress?.(what);
  }

  /** Why there is no server, from the remote script's status, else from the exit of ssh. */
  async #explain(child: Child, status: StatusLine): Promise<LinkError> {
    if (status.word === "nonode") return explainNode(this.#name, status.text.trim());
    if (status.word === "failed") {
      return new LinkError(
        "program_failed",
        `the server could not be installed on ${this.#name}: ${parseReason(status.text)}`,
      );
    }
    const how = await child.exited;
    // Programs that reject an account print the reason on stdout.
    const printed = status.word === ENDED ? status.text : "";
    return explainSshFailure(this.#name, child.exitCode, how, child.stderrTail || printed);
  }

  #explainLoss(child: Child, how: string): LinkError {
    const { message, code } = explainSshFailure(this.#name, child.exitCode, how, child.stderrTail);
    return new LinkError(code, `the connection was lost: ${message}`);
  }

  #explainSilence(child: Child, { code, message }: StatusError): LinkError {
    const words = child.stderrTail === "" ? "" : `; ssh said: ${child.stderrTail.split("\n").at(-1)}`;
    return new LinkError(code, `ssh to ${this.#name}: ${message}${words}`);
  }
}

/**
 * All variables except those that may be secret: programs named in the user's configuration, such as a ProxyCommand, may need them.
 * The password of a proxy is kept.
 */
function createSshEnvironment(hostEnv: NonNullable<SshLinkOptions["hostEnv"]>): Readonly<Record<string, string>> {
  const policy = { inherit: "all", ignoreDefaultExcludes: false, set: {} } as const;
  const env = createEnvironment({ ...policy, exclude: ["*PASSWORD*", "*PASSWD*"], includeOnly: [] }, hostEnv);
  const hasPassword = ([name, value]: [string, string]) =>
    /:\/\/[^/\s@:]*:[^/\s@]+@/.test(value) && !/_proxy$/i.test(name);
  return Object.fromEntries(Object.entries(env).filter((variable) => !hasPassword(variable)));
}

/** Everything else comes from the user's configuration: keys, agent, known hosts, jump hosts. */
function createArguments(
  { address, connectTimeoutMs = SSH_CONNECT_MS }: SshLinkOptions,
  isInteractive: boolean,
): string[] {
  const settings = [
    `BatchMode=${isInteractive ? "no" : "yes"}`,
    `ConnectTimeout=${Math.ceil(connectTimeoutMs / 1000)}`,
    // A second connection could not forward the same ports.
    "ClearAllForwardings=yes",
    "RemoteCommand=none",
    // An unresponsive connection ends after 45 s.
    ...["ServerAliveInterval=15", "ServerAliveCountMax=3"],
  ];
  return [
    "-T",
    ...settings.flatMap((setting) => ["-o", setting]),
    ...(address.user === undefined ? [] : ["-l", address.user]),
    ...(address.port === undefined ? [] : ["-p", String(address.port)]),
    ...["--", address.host, "exec /bin/sh"],
  ];
}

function explainNode(name: string, old: string): LinkError {
  const found = old === "" ? `looked in ${NODE_PLACES}` : `too old: ${old}`;
  return new LinkError("unsupported", `${name} has no Node 20.19 or newer, which is all it needs; ${found}`);
}

function parseTarget(text: string): BundleTarget {
  const { platform, arch, libc } = parseObject(text);
  const known = libc === "glibc" || libc === "musl" ? libc : "other";
  return { platform: String(platform), arch: String(arch), libc: known };
}

function parseReason(text: string): string {
  const { reason, code } = parseObject(text);
  if (code === "ENOSPC") return "its disk is full";
  if (code === "EDQUOT") return "its disk quota is exceeded";
  const isUnwritable = ["EACCES", "EPERM", "EROFS", "ENOTDIR"].includes(String(code));
  return `${reason}${isUnwritable ? "; set XDG_CACHE_HOME there to a directory that you may write" : ""}`;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {};
  }
}
