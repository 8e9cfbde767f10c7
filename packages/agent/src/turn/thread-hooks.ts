import type { HookSubject, Hooks, StartAnswer, ToolUse } from "@codex/hooks";
import { commandIn, describeBlocked } from "@codex/hooks";
import { createMessage, type MessageItem, type ToolOutput } from "@codex/model";
import type { HookCaller } from "@codex/orchestrator";

/** What hooks are told about a turn. */
export type TurnSubject = HookSubject;

/** A use of one of the agent's own tools that hooks let pass, with the input that they want. */
export interface OwnUse {
  readonly kind: "continue";
  /** Undefined: as it was given. */
  readonly input: unknown;
  /** Tells hooks about its end; resolves with what the model reads. */
  after(output: ToolOutput): Promise<ToolOutput>;
}

/** The hooks of one turn. */
export class ThreadHooks {
  readonly #hooks: Hooks;
  readonly #subject: TurnSubject;
  /** The model went on because of a hook. */
  #isActive = false;

  constructor(hooks: Hooks, subject: TurnSubject) {
    this.#hooks = hooks;
    this.#subject = subject;
  }

  /** Names a call of this turn to the hooks of an orchestrator. */
  callerOf(callId: string): HookCaller {
    const { sessionId, turnId, transcriptPath, model } = this.#subject;
    return { sessionId, turnId, transcriptPath, model, callId };
  }

  sessionStart(source: "startup" | "resume", signal: AbortSignal): Promise<StartAnswer> {
    const { turnId: _, ...subject } = this.#subject;
    return this.#hooks.sessionStart({ ...subject, source }, signal);
  }

  promptSubmit(prompt: string, signal: AbortSignal): Promise<StartAnswer> {
    return this.#hooks.userPromptSubmit({ ...this.#subject, prompt }, signal);
  }

  /** The prompts with which the model goes on; none: the turn ends. */
  async stop(lastMessage: string, signal: AbortSignal): Promise<readonly MessageItem[]> {
    const last = lastMessage === "" ? null : lastMessage;
    const answer = await this.#hooks.stop({ ...this.#subject, isActive: this.#isActive, lastMessage: last }, signal);
    if (answer.kind === "end") return [];
    this.#isActive = true;
    const texts = answer.prompts.map(
      ({ run, text }) =>
        `<hook_prompt hook_run_id="${escapeXml(run).replaceAll('"', "&quot;")}">${escapeXml(text)}</hook_prompt>`,
    );
    return [createMessage("user", ...texts)];
  }

  /** What hooks in the background have said for the model. */
  takeContext(): readonly MessageItem[] {
    return this.#hooks.takeContext().map((text) => createMessage("developer", text));
  }

  /** Why the history must not be compacted, or the turn ends after it; undefined: it goes on. */
  async compaction(
    when: "before" | "after",
    trigger: "manual" | "auto",
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const subject = { ...this.#subject, trigger };
    const ask = when === "before" ? this.#hooks.preCompact(subject, signal) : this.#hooks.postCompact(subject, signal);
    const { stop } = await ask;
    return stop === undefined ? undefined : stop || "a hook stopped it";
  }

  interrupted(): Promise<void> {
    return this.#hooks.interrupt(this.#subject);
  }

  /** Asks before one of the agent's own tools is used. @param tell adds a text for the model to the history */
  async before(
    callId: string,
    use: Pick<ToolUse, "tool" | "input">,
    signal: AbortSignal,
    tell: (text: string) => Promise<void>,
  ): Promise<OwnUse | { readonly kind: "blocked"; readonly output: string }> {
    const asked = { ...this.#subject, id: callId, ...use };
    const answer = await this.#hooks.preToolUse(asked, signal);
    for (const text of answer.context) await tell(text);
    if (answer.kind === "block") return { kind: "blocked", output: describeBlocked(use, answer.reason) };
    const { input } = answer;
    const used = input === undefined ? asked : { ...asked, input };
    return {
      kind: "continue",
      input,
      after: async (output) => {
        const { context, feedback } = await this.#hooks.postToolUse(used, output, signal);
        for (const text of context) await tell(text);
        return feedback ?? output;
      },
    };
  }
}

/** How the agent's own tools are named to hooks, and what of their arguments they read. */
export const toHooks = (name: string, args: Readonly<Record<string, unknown>>): Pick<ToolUse, "tool" | "input"> =>
  name === "apply_patch"
    ? { tool: name, input: { command: args.input } }
    : name === "exec_command"
      ? { tool: "Bash", input: { command: args.cmd } }
      : { tool: name, input: args };

/** The arguments of a tool with the input that a hook wants; undefined if there are none. */
export function fromHooks(
  name: string,
  args: Readonly<Record<string, unknown>>,
  input: unknown,
): Readonly<Record<string, unknown>> | undefined {
  if (name === "apply_patch" || name === "exec_command") {
    const command = commandIn(input);
    if (command === undefined) return undefined;
    return name === "apply_patch" ? { ...args, input: command } : { ...args, cmd: command };
  }
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as Readonly<Record<string, unknown>>) // an object of JSON
    : undefined;
}

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
