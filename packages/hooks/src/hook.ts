/** The events of Codex at which hooks run. Those of subagents do not happen here. */
export type HookEvent =
  | "PreToolUse"
  | "PermissionRequest"
  | "PostToolUse"
  | "SessionStart"
  | "UserPromptSubmit"
  | "Stop"
  | "Interrupt"
  | "PreCompact"
  | "PostCompact"
  | "SubagentStart"
  | "SubagentStop"
  | "SessionEnd";

/** One program that is run at an event. */
export interface Hook {
  readonly event: HookEvent;
  /** `FILE:EVENT:GROUP:INDEX`, as trust in it is stored. */
  readonly key: string;
  /** Of what it does, as `sha256:HEX`; the same as in Codex. */
  readonly hash: string;
  /** What it is for: `*`, names of tools separated by `|`, or a regular expression; undefined for everything. */
  readonly matcher: string | undefined;
  /** A line for the user's shell. */
  readonly command: string;
  readonly timeoutMs: number;
  /** Nobody waits for it, and it decides nothing. */
  readonly isAsync: boolean;
  /** Shown while it runs. */
  readonly statusMessage: string | undefined;
  /** The file that defines it. */
  readonly file: string;
  /** In addition to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/** A definition that cannot be a hook. */
export class HookError extends Error {
  override readonly name = "HookError";
  /** Path of the wrong part below the events, such as `PreToolUse`, `0`, `matcher`. */
  readonly path: readonly string[];

  constructor(path: readonly string[], problem: string) {
    super(problem);
    this.path = path;
  }
}

/** Where a hook is defined. */
export interface HookPlace {
  readonly file: string;
  /** Instead of the file in keys. */
  readonly keySource?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What an event is about, as every hook reads it. */
export interface HookSubject {
  readonly sessionId: string;
  readonly turnId: string;
  /** The file that the conversation is saved in; null if it is not. */
  readonly transcriptPath: string | null;
  /** Absolute, on the host of the commands. */
  readonly cwd: string;
  readonly model: string;
  /** `bypassPermissions`: nobody is ever asked. */
  readonly permissionMode: "default" | "bypassPermissions";
}

/** One use of a tool. */
export interface ToolUse extends HookSubject {
  readonly id: string;
  /** `Bash` for commands. */
  readonly tool: string;
  /** For commands and patches an object with `command`, else the arguments of the tool. */
  readonly input: unknown;
}

/** The answer of all hooks before a tool is used. */
export type PreToolUseAnswer = {
  /** Text for the model, in the order of the hooks. */
  readonly context: readonly string[];
} & (
  | { readonly kind: "continue" /** Instead of the one that was given. */; readonly input?: unknown }
  | { readonly kind: "block"; readonly reason: string }
);

/** The answer of all hooks in place of somebody who is asked; undefined leaves the question to them. */
export type PermissionVerdict =
  | { readonly kind: "allow" }
  | { readonly kind: "deny"; readonly reason: string }
  | undefined;

/** The answer of all hooks after a tool was used. */
export interface PostToolUseAnswer {
  readonly context: readonly string[];
  /** What the model reads instead of the output. */
  readonly feedback?: string;
}

/** The answer of all hooks when a session or a turn begins. */
export interface StartAnswer {
  readonly context: readonly string[];
  /** Why the turn ends before it asks the model; may be empty. */
  readonly stop?: string;
}

/** The answer of all hooks when the model has finished. */
export type StopAnswer =
  | { readonly kind: "end" /** Set if a hook ended it; may be empty. */; readonly reason?: string }
  /** The model goes on; each prompt with the id of the hook's run. */
  | { readonly kind: "continue"; readonly prompts: readonly { readonly run: string; readonly text: string }[] };

/** What one run of a hook tells its user. */
export interface HookReport {
  readonly hook: Hook;
  readonly kind: "failed" | "message";
  readonly text: string;
}

/** The hooks of tools, for those that carry out calls. None of the methods rejects. An aborted signal ends hooks that run: they have failed then. */
export interface ToolHooks {
  /** A hook that fails blocks. */
  preToolUse(use: ToolUse, signal?: AbortSignal): Promise<PreToolUseAnswer>;
  /** Any denial wins; a hook that fails denies. */
  permissionRequest(use: Omit<ToolUse, "id">, signal?: AbortSignal): Promise<PermissionVerdict>;
  /** Takes what hooks in the background have said for the model since the last time. */
  takeContext(): readonly string[];
  /** @param response what the tool returned, as JSON */
  postToolUse(use: ToolUse, response: unknown, signal?: AbortSignal): Promise<PostToolUseAnswer>;
}

/** Runs hooks. None of the methods rejects. */
export interface Hooks extends ToolHooks {
  /** Before the first turn of a session. */
  sessionStart(
    subject: Omit<HookSubject, "turnId"> & { readonly source: "startup" | "resume" | "clear" | "compact" },
    signal?: AbortSignal,
  ): Promise<StartAnswer>;
  /** Before a turn. A hook that fails changes nothing. */
  userPromptSubmit(subject: HookSubject & { readonly prompt: string }, signal?: AbortSignal): Promise<StartAnswer>;
  /** When the model makes no more calls. */
  stop(
    subject: HookSubject & {
      /** The model went on because of a hook. */
      readonly isActive: boolean;
      readonly lastMessage: string | null;
    },
    signal?: AbortSignal,
  ): Promise<StopAnswer>;
  /** Before the history is compacted. */
  preCompact(subject: CompactionSubject, signal?: AbortSignal): Promise<Pick<StartAnswer, "stop">>;
  postCompact(subject: CompactionSubject, signal?: AbortSignal): Promise<Pick<StartAnswer, "stop">>;
  /** After the user has ended a turn. */
  interrupt(subject: HookSubject): Promise<void>;
  sessionEnd(subject: Omit<HookSubject, "turnId"> & { readonly reason: string }): Promise<void>;
  /** Ends hooks that run in the background. */
  close(): void;
}

/** What a compaction is about. */
export type CompactionSubject = HookSubject & { readonly trigger: "manual" | "auto" };
