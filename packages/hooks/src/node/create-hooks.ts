import type {
  CompactionSubject,
  Hook,
  HookEvent,
  HookReport,
  HookSubject,
  Hooks,
  PermissionVerdict,
  PostToolUseAnswer,
  PreToolUseAnswer,
  StartAnswer,
  StopAnswer,
  ToolUse,
} from "../hook.js";
import { type Answer, readAnswer } from "./answers.js";
import { labelOf } from "./definitions.js";
import { MAX_ASYNC } from "./limits.js";
import { matches } from "./matcher.js";
import { type HookHost, runCommand } from "./run-command.js";

/** Options of {@link createHooks}. */
export interface HooksOptions {
  /** In the order in which their answers are put together. */
  readonly hooks: readonly Hook[];
  /** Absolute directory that they run in. */
  readonly directory: string;
  /** Their environment; default that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Runs their commands with `-c`; default `$SHELL`, else `/bin/sh`. */
  readonly shell?: string;
  /** Called when a run has failed, or has a message for the user. Must not throw. */
  readonly onReport?: (report: HookReport) => void;
}

/** What one hook said, and when. */
interface Said {
  readonly hook: Hook;
  readonly answer: Answer;
  /** Counts up in the order in which they ended. */
  readonly order: number;
}

/**
 * Runs hooks as Codex does: all that match at the same time, with a JSON object on stdin. Unlike there, a hook that fails before a tool is
 * used, or in place of an approver, refuses.
 */
export function createHooks({
  hooks,
  directory,
  env = process.env,
  shell = process.env.SHELL || "/bin/sh",
  onReport = () => {},
}: HooksOptions): Hooks {
  const host: HookHost = { shell, directory, env };
  const closing = new AbortController();
  let inBackground = 0;
  const untaken: string[] = [];

  const run = async (hook: Hook, input: string, signal: AbortSignal | undefined): Promise<Answer> => {
    const answer = readAnswer(hook.event, await runCommand(hook, input, host, signal));
    if (hook.isAsync && closing.signal.aborted) return answer;
    if (answer.failure !== undefined) onReport({ hook, kind: "failed", text: answer.failure });
    if (answer.message !== undefined) onReport({ hook, kind: "message", text: answer.message });
    return answer;
  };
  const runInBackground = (hook: Hook, input: string) => {
    if (inBackground >= MAX_ASYNC) {
      return onReport({ hook, kind: "failed", text: `it was not run: ${MAX_ASYNC} hooks run in the background` });
    }
    inBackground += 1;
    void run(hook, input, closing.signal).then(({ context }) => {
      inBackground -= 1;
      if (context !== undefined) untaken.push(context);
      if (untaken.length > MAX_ASYNC) untaken.shift();
    });
  };
  /** Runs the hooks of an event, and resolves with what they said in their order. */
  const runAll = async (
    event: HookEvent,
    names: readonly string[],
    input: object,
    signal?: AbortSignal,
  ): Promise<readonly Said[]> => {
    const matching = hooks.filter((hook) => hook.event === event && matches(hook.matcher, names));
    if (matching.length === 0) return [];
    const text = JSON.stringify(input);
    for (const hook of matching) if (hook.isAsync) runInBackground(hook, text);
    let ended = 0;
    return Promise.all(
      matching
        .filter(({ isAsync }) => !isAsync)
        .map(async (hook) => {
          const answer = await run(hook, text, signal);
          ended += 1;
          return { hook, answer, order: ended };
        }),
    );
  };

  const compact = async (
    event: "PreCompact" | "PostCompact",
    { trigger, ...subject }: CompactionSubject,
    signal: AbortSignal | undefined,
  ) => {
    const { permission_mode: _, ...about } = describe(event, subject);
    const { stop } = toStart(await runAll(event, [trigger], { ...about, trigger }, signal));
    return stop === undefined ? {} : { stop };
  };

  return {
    async preToolUse(use, signal): Promise<PreToolUseAnswer> {
      const said = await runAll("PreToolUse", namesOf(use), describeUse("PreToolUse", use), signal);
      const context = contextOf(said);
      const reason = refusalOf(said);
      if (reason !== undefined) return { kind: "block", reason, context };
      const [latest] = said.filter(({ answer }) => answer.input !== undefined).sort((a, b) => b.order - a.order);
      return latest === undefined
        ? { kind: "continue", context }
        : { kind: "continue", input: latest.answer.input, context };
    },
    async permissionRequest(use, signal): Promise<PermissionVerdict> {
      const said = await runAll("PermissionRequest", namesOf(use), describeUse("PermissionRequest", use), signal);
      const reason = refusalOf(said);
      if (reason !== undefined) return { kind: "deny", reason };
      return said.some(({ answer }) => answer.allows === true) ? { kind: "allow" } : undefined;
    },
    takeContext: () => untaken.splice(0),
    async postToolUse(use, response, signal): Promise<PostToolUseAnswer> {
      const input = { ...describeUse("PostToolUse", use), tool_response: response, tool_use_id: use.id };
      const said = await runAll("PostToolUse", namesOf(use), input, signal);
      const feedback = said.flatMap(({ answer }) => answer.block ?? []);
      const context = contextOf(said);
      return feedback.length === 0 ? { context } : { context, feedback: feedback.join("\n\n") };
    },
    async sessionStart({ source, ...subject }, signal): Promise<StartAnswer> {
      const input = { ...describe("SessionStart", subject), source };
      return toStart(await runAll("SessionStart", [source], input, signal));
    },
    async userPromptSubmit({ prompt, ...subject }, signal): Promise<StartAnswer> {
      const input = { ...describe("UserPromptSubmit", subject), prompt };
      return toStart(await runAll("UserPromptSubmit", [], input, signal));
    },
    async stop({ isActive, lastMessage, ...subject }, signal): Promise<StopAnswer> {
      const input = { ...describe("Stop", subject), stop_hook_active: isActive, last_assistant_message: lastMessage };
      const said = await runAll("Stop", [], input, signal);
      const ended = said.find(({ answer }) => answer.stop !== undefined);
      if (ended !== undefined) return { kind: "end", reason: ended.answer.stop ?? "" };
      const prompts = said.flatMap(({ hook, answer: { block } }) =>
        block === undefined ? [] : { run: `${labelOf(hook.event)}:${hooks.indexOf(hook)}:${hook.file}`, text: block },
      );
      return prompts.length === 0 ? { kind: "end" } : { kind: "continue", prompts };
    },
    preCompact: (subject, signal) => compact("PreCompact", subject, signal),
    postCompact: (subject, signal) => compact("PostCompact", subject, signal),
    async interrupt(subject): Promise<void> {
      await runAll("Interrupt", [], describe("Interrupt", subject));
    },
    async sessionEnd({ reason, ...subject }): Promise<void> {
      const { model: _, permission_mode: __, ...about } = describe("SessionEnd", subject);
      await runAll("SessionEnd", [reason], { ...about, reason });
    },
    close: () => closing.abort(),
  };
}

/** Some tools also match by their names elsewhere. */
const namesOf = ({ tool }: Pick<ToolUse, "tool">): string[] =>
  tool === "apply_patch" ? [tool, "Write", "Edit"] : [tool];

/** What every hook of an event reads. */
function describe(
  event: HookEvent,
  { sessionId, turnId, transcriptPath, cwd, model, permissionMode }: Omit<HookSubject, "turnId"> & { turnId?: string },
) {
  return {
    session_id: sessionId,
    ...(turnId === undefined ? {} : { turn_id: turnId }),
    transcript_path: transcriptPath,
    cwd,
    hook_event_name: event,
    model,
    permission_mode: permissionMode,
  };
}

const describeUse = (
  event: HookEvent,
  { id, tool, input, ...subject }: Omit<ToolUse, "id"> & { id?: string },
): object => ({
  ...describe(event, subject),
  tool_name: tool,
  tool_input: input,
  ...(id === undefined || event === "PostToolUse" ? {} : { tool_use_id: id }),
});

const contextOf = (said: readonly Said[]): string[] => said.flatMap(({ answer }) => answer.context ?? []);

/** The first reason to refuse; what could not be found out refuses as well. */
function refusalOf(said: readonly Said[]): string | undefined {
  const blocked = said.find(({ answer }) => answer.block !== undefined);
  if (blocked !== undefined) return blocked.answer.block;
  const failed = said.find(({ answer }) => answer.failure !== undefined);
  return failed === undefined ? undefined : `the hook failed: ${failed.answer.failure}`;
}

function toStart(said: readonly Said[]): StartAnswer {
  const context = contextOf(said);
  const ended = said.find(({ answer }) => answer.stop !== undefined || answer.block !== undefined);
  return ended === undefined ? { context } : { context, stop: ended.answer.stop ?? ended.answer.block ?? "" };
}
