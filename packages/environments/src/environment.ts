import type { ExecBackend } from "@codex/exec-backend";
import type { RemoteFileSystem, RemoteHttp } from "@codex/exec-server-client";
import type { AttachedExecutor, Orchestrator } from "@codex/orchestrator";

/**
 * A named host with processes, files, HTTP and, through an executor, tools. It is connected on first use, once for all concurrent
 * callers, and resumed when its connection is lost. It fails closed: an operation that fails here is not done elsewhere.
 */
export interface Environment extends AsyncDisposable {
  readonly id: string;
  /** How it is reached. */
  readonly kind: EnvironmentKind;
  readonly state: EnvironmentState;
  /** Calls the listener at each change of state. Returns a function that removes it. Exceptions of the listener are ignored. */
  onStateChange(listener: (state: EnvironmentState) => void): () => void;
  /**
   * Connects, unless it is connected. Concurrent callers wait for the same attempt. A failed attempt is repeated on the next call,
   * after a delay that grows with each failure.
   * @throws EnvironmentError, or the reason of `signal`, which ends only this wait
   */
  connect(options?: { signal?: AbortSignal }): Promise<void>;
  /** Describes its host. Connects first. @throws EnvironmentError */
  info(): Promise<EnvironmentInfo>;
  /** The protocol served at its address, determined by the handshake; undefined before. */
  readonly serves: ServedProtocol | undefined;
  /** Its processes. Each start connects first, and rejects with EnvironmentError if that fails; then nothing was started. */
  readonly backend: ExecBackend;
  /** Its files. Each call connects first, and rejects with EnvironmentError if that fails. */
  readonly files: EnvironmentFiles;
  /** HTTP requests made by its host; connects like `files`. */
  readonly http: EnvironmentHttp;
  /**
   * Attaches its tools to an orchestrator, under its id. Connects first. For an exec-server, an executor is started in
   * this process. At an executor, `backend` shares the connection of the orchestrator that was attached last, and its processes end with
   * that one; files and HTTP then continue over another. @throws EnvironmentError, OrchestratorError
   */
  attach(orchestrator: Pick<Orchestrator, "attach">, options?: { signal?: AbortSignal }): Promise<AttachedExecutor>;
  /** Ends its processes and its connection. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** `local`: this host. `websocket`: an address. `command`: a program that communicates over its stdin and stdout. */
export type EnvironmentKind = "local" | "websocket" | "command" | "ssh" | (string & {});

/** A protocol that an environment can serve. */
export type ServedProtocol = "exec-server" | "executor";

/**
 * `disconnected`: not used yet, or closed. `reconnecting`: the connection was lost, and its session is being resumed. `failed`:
 * connecting failed, or the session was not resumed; the next use tries again.
 */
export type EnvironmentStatus = "disconnected" | "connecting" | "ready" | "reconnecting" | "failed";

/** The state of an environment's connection. */
export interface EnvironmentState {
  readonly status: EnvironmentStatus;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Why it is not `ready`, without tokens, and with URLs stripped of user, password and query. */
  readonly reason?: string;
}

/** The host of an environment. Paths are native paths of that host. */
export interface EnvironmentInfo {
  /** As in `process.platform`: `linux`, `darwin`, `win32`. */
  readonly os: string;
  readonly shell: { readonly name: string; readonly path: string };
  readonly cwd: string;
  readonly home: string;
}

/** Files of an environment: the interface of `RemoteFileSystem` of `@codex/exec-server-client`. */
export type EnvironmentFiles = Pick<RemoteFileSystem, keyof RemoteFileSystem>;

/** HTTP from the host of an environment: the interface of `RemoteHttp` of `@codex/exec-server-client`. */
export type EnvironmentHttp = Pick<RemoteHttp, keyof RemoteHttp>;
