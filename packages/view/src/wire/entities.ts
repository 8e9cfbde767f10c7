/** The content of a page: objects that are replaced as a whole, identified by key. */
export type Entity =
  | ThreadEntity
  | EnvironmentEntity
  | SessionEntity
  | ItemEntity
  | QuestionEntity
  | RecordEntity
  | RecordingEntity;

/** The key of an entity is unique over all kinds: `session 3`. */
export const keyOf = (entity: Entity): string => `${entity.kind} ${entity.id}`;

/** Whether something still waits for it, or runs: it must stay reachable, however old it is. */
export function isLive(entity: Entity): boolean {
  switch (entity.kind) {
    case "thread":
    case "environment":
      return true;
    case "session":
      return entity.state === "running";
    case "question":
      return entity.answer === undefined;
    case "item":
      return "status" in entity.content && LIVE_STATUS.has(entity.content.status);
    case "record":
    case "recording":
      return false;
  }
}

const LIVE_STATUS: ReadonlySet<string> = new Set(["waiting", "running", "in_progress"]);

/** The conversation; there is at most one. */
export interface ThreadEntity {
  readonly kind: "thread";
  readonly id: "thread";
  /** Undefined before the first turn, and without a conversation. */
  readonly threadId?: string | undefined;
  readonly model?: string | undefined;
  /** Tokens of the thread as counted by the endpoint. */
  readonly tokens?: number | undefined;
  /** `none`: there are only sessions. `ended`: the program has ended. */
  readonly state: "none" | "idle" | "running" | "failed" | "ended";
  /** Why it failed or ended. */
  readonly reason?: string | undefined;
  /** The chain of the audit log, if one is shown. */
  readonly chain?: ChainState | undefined;
}

/** Whether an audit log is unmodified. */
export interface ChainState {
  readonly state: "intact" | "broken" | "unreadable";
  /** If it is broken, the line and the reason; otherwise the number of records. */
  readonly text: string;
}

/** A place where commands run. */
interface EnvironmentEntity {
  readonly kind: "environment";
  readonly id: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly cwd?: string | undefined;
  readonly os?: string | undefined;
  readonly primary: boolean;
}

/** A range of bytes, `to` exclusive. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** A command and its output. `id` is unique in the view; session ids of executors are reused. */
export interface SessionEntity {
  readonly kind: "session";
  readonly id: number;
  readonly sessionId: number;
  readonly environment: string;
  /** As a user would type it. */
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly tty: boolean;
  readonly size?: { readonly rows: number; readonly cols: number } | undefined;
  readonly state: "running" | "ended" | "lost";
  /** The outcome in words; empty while it runs. */
  readonly outcome: string;
  readonly isFailure: boolean;
  readonly exitCode?: number | undefined;
  /** Unix time, milliseconds. */
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  /** Bytes of output so far, as far as known. */
  readonly end: number;
  /** Whether pages with the right to answer may type into it. */
  readonly canType: boolean;
  /** What it uses, in words, where its executor limits that. */
  readonly use?: string | undefined;
}

/** A part of the conversation, or a call without one. */
export interface ItemEntity {
  readonly kind: "item";
  readonly id: string;
  /** Items are shown in this order. */
  readonly order: number;
  readonly content: ItemContent;
}

/** Kinds of items. */
export type ItemContent =
  | { readonly type: "prompt" | "message" | "reasoning" | "warning"; readonly text: string }
  | CommandContent
  | {
      readonly type: "patch";
      readonly status: string;
      readonly environment?: string | undefined;
      readonly changes: readonly PatchChange[];
    }
  | { readonly type: "plan"; readonly steps: readonly { readonly text: string; readonly status: string }[] }
  | {
      readonly type: "tool";
      readonly name: string;
      readonly input: string;
      readonly output: string;
      readonly status: string;
    };

/** Connections of a command to one host. */
export interface ShownHost {
  /** With its port, where that is known. */
  readonly name: string;
  readonly isAllowed: boolean;
  /** Why it was denied; empty where it was allowed. */
  readonly why: string;
  readonly count: number;
  /** Bytes of connections that have ended, from the command to the host and back. */
  readonly sent: number;
  readonly received: number;
}

/** A command of a model. */
export interface CommandContent {
  readonly type: "command";
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly environment?: string | undefined;
  /** What allowed or refused it, and by which rule. */
  readonly decision?: string | undefined;
  readonly rule?: string | undefined;
  /** What its managed network has reached, and has not. */
  readonly hosts?: readonly ShownHost[] | undefined;
  /** Connections to hosts beyond those. */
  readonly otherHosts?: number | undefined;
  /** Last lines of its output. */
  readonly tail: string;
  /** `waiting`: for an approval. */
  readonly status: "waiting" | "running" | "completed" | "failed" | "declined";
  readonly outcome: string;
  /** Range of the session's output, and the parts that the model did not receive. */
  readonly range?: Range | undefined;
  readonly omitted: readonly Range[];
  /** `id` of its session. */
  readonly session?: number | undefined;
}

/** A change of one file. */
interface PatchChange {
  readonly path: string;
  readonly change: string;
  readonly diff?: string | undefined;
}

/** A question that is open or was answered. */
export interface QuestionEntity {
  readonly kind: "question";
  readonly id: string;
  readonly environment: string;
  readonly tool: string;
  /** The whole argv. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly tty: boolean;
  readonly reason: string;
  readonly justification?: string | undefined;
  /** The sandbox it would run in, in words. */
  readonly sandbox: string;
  readonly permissions?: string | undefined;
  readonly afterDenial?: string | undefined;
  /** Words of the rule that may be saved. */
  readonly rule?: readonly string[] | undefined;
  /** That rule keeps the sandbox. */
  readonly keepsSandbox?: boolean | undefined;
  readonly decisions: readonly string[];
  /** Unix time, milliseconds. */
  readonly askedAt: number;
  readonly answer?: { readonly decision: string; readonly by: string } | undefined;
}

/** A recording in a file. */
interface RecordingEntity {
  readonly kind: "recording";
  readonly id: number;
  readonly name: string;
}

/** A record of an audit log. */
export interface RecordEntity {
  readonly kind: "record";
  readonly id: number;
  /** As in the log. */
  readonly at: string;
  readonly type: string;
  /** The other fields, as one line of JSON. */
  readonly text: string;
}
