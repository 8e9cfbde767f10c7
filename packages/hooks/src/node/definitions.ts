import { createHash } from "node:crypto";
import * as z from "zod/mini";
import { type Hook, HookError, type HookEvent, type HookPlace } from "../hook.js";
import { MAX_HOOKS, MAX_TIMEOUT_S } from "./limits.js";
import { findMatcherProblem } from "./matcher.js";

interface EventTraits {
  /** In keys and hashes. */
  readonly label: string;
  /** It is about something that has a name, which a matcher selects. */
  readonly matches: boolean;
  /** Default time limit, seconds. */
  readonly timeoutS: number;
}

const EVENTS: Readonly<Record<HookEvent, EventTraits>> = {
  PreToolUse: { label: "pre_tool_use", matches: true, timeoutS: 600 },
  PermissionRequest: { label: "permission_request", matches: true, timeoutS: 600 },
  PostToolUse: { label: "post_tool_use", matches: true, timeoutS: 600 },
  SessionStart: { label: "session_start", matches: true, timeoutS: 600 },
  UserPromptSubmit: { label: "user_prompt_submit", matches: false, timeoutS: 600 },
  Stop: { label: "stop", matches: false, timeoutS: 600 },
  PreCompact: { label: "pre_compact", matches: true, timeoutS: 600 },
  PostCompact: { label: "post_compact", matches: true, timeoutS: 600 },
  SubagentStart: { label: "subagent_start", matches: true, timeoutS: 600 },
  SubagentStop: { label: "subagent_stop", matches: true, timeoutS: 600 },
  Interrupt: { label: "interrupt", matches: false, timeoutS: 1 },
  SessionEnd: { label: "session_end", matches: true, timeoutS: 1 },
};

/** Name of an event in keys, and in ids of runs. */
export const labelOf = (event: HookEvent): string => EVENTS[event].label;

/** Events that emit text for the model, whose limit is part of a hook's hash. */
const WITH_CONTEXT: readonly HookEvent[] = [
  "PreToolUse",
  "PostToolUse",
  "SessionStart",
  "UserPromptSubmit",
  "SubagentStart",
];

/** The names of all events. */
export const hookEvents = Object.keys(EVENTS) as readonly HookEvent[]; // the keys of a record of them

const handlerSchema = z.looseObject({ type: z.string() });
const commandSchema = z.looseObject({
  command: z.string(),
  timeout: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_TIMEOUT_S))),
  async: z.optional(z.boolean()),
  statusMessage: z.optional(z.string()),
  additionalContextLimit: z.optional(z.int().check(z.minimum(0))),
});
const groupSchema = z.looseObject({
  matcher: z.optional(z.string()),
  hooks: z.optional(z.array(handlerSchema).check(z.maxLength(MAX_HOOKS))),
});
const groupsSchema = z.array(groupSchema).check(z.maxLength(MAX_HOOKS));

/** The hooks of one place, and what of it is no hook here. */
export interface ReadHooks {
  readonly hooks: readonly Hook[];
  readonly warnings: readonly string[];
}

/**
 * The hooks of a table by their events, as in `hooks.json` and `[hooks]`. Other names are left out.
 * @throws HookError for what is wrong in one that is
 */
export function readHooks(events: Readonly<Record<string, unknown>>, place: HookPlace): ReadHooks {
  const hooks: Hook[] = [];
  const warnings: string[] = [];
  for (const event of hookEvents) {
    if (events[event] === undefined) continue;
    const groups = parse(groupsSchema, events[event], [event]);
    for (const [at, group] of groups.entries()) {
      const matcher = EVENTS[event].matches ? group.matcher : undefined;
      const problem = matcher === undefined ? undefined : findMatcherProblem(matcher);
      if (problem !== undefined) throw new HookError([event, String(at), "matcher"], problem);
      for (const [index, handler] of (group.hooks ?? []).entries()) {
        const path = [event, String(at), "hooks", String(index)];
        if (handler.type === "command") {
          hooks.push(readCommand(handler, { event, matcher, path, at: `${at}:${index}`, place }));
        } else if (handler.type === "prompt" || handler.type === "agent") {
          warnings.push(`${path.join(".")}: hooks of type "${handler.type}" do not run, as in Codex`);
        } else throw new HookError([...path, "type"], 'expected "command"');
      }
    }
  }
  return { hooks, warnings };
}

interface Around {
  readonly event: HookEvent;
  readonly matcher: string | undefined;
  readonly path: readonly string[];
  readonly at: string;
  readonly place: HookPlace;
}

function readCommand(handler: unknown, { event, matcher, path, at, place }: Around): Hook {
  const { label, timeoutS } = EVENTS[event];
  const given = parse(commandSchema, handler, path);
  if (given.command.trim() === "") throw new HookError([...path, "command"], "it is empty");
  const timeout = Math.max(given.timeout ?? timeoutS, 1);
  const isAsync = given.async ?? false;
  const { statusMessage, additionalContextLimit } = given;
  const identity = {
    event_name: label,
    matcher,
    hooks: [
      {
        type: "command",
        command: given.command,
        timeout,
        async: isAsync,
        statusMessage,
        additionalContextLimit: WITH_CONTEXT.includes(event) ? additionalContextLimit : undefined,
      },
    ],
  };
  const { file, keySource = file, env = {} } = place;
  return {
    event,
    key: `${keySource}:${label}:${at}`,
    hash: `sha256:${createHash("sha256")
      .update(JSON.stringify(sortKeys(identity)))
      .digest("hex")}`,
    matcher,
    command: Object.entries(env).reduce((line, [name, value]) => line.replaceAll(`\${${name}}`, value), given.command),
    timeoutMs: timeout * 1000,
    isAsync,
    statusMessage,
    file,
    env,
  };
}

function parse<T>(schema: z.ZodMiniType<T>, value: unknown, path: readonly string[]): T {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new HookError([...path, ...(issue?.path ?? []).map(String)], issue?.message ?? "it is not valid");
}

/** Keys in the order of their names, at every level. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}
