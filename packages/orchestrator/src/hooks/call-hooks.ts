import type { PreToolUseAnswer, ToolUse } from "@codex/hooks";
import type { ToolCallResult } from "../result.js";
import type { HookCaller, OrchestratorHooks } from "./hook-caller.js";

/** A use of a tool that hooks were asked about, and that they are told about when it is over. */
export type HookedUse = ToolUse;

/** The hooks of one call, which are asked before and told after it. Without hooks nothing happens. */
export class CallHooks {
  readonly #hooks: OrchestratorHooks | undefined;
  readonly #caller: HookCaller | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #context: string[] = [];

  constructor(
    hooks: OrchestratorHooks | undefined,
    { hookCaller, signal }: { hookCaller?: HookCaller; signal?: AbortSignal },
  ) {
    this.#hooks = hooks;
    this.#caller = hookCaller;
    this.#signal = signal;
  }

  /** Undefined without hooks. */
  async before(
    { tool, input }: Pick<ToolUse, "tool" | "input">,
    place: { environment: string; cwd: string },
  ): Promise<{ use: HookedUse; answer: PreToolUseAnswer } | undefined> {
    if (this.#hooks === undefined) return undefined;
    const caller = this.#caller;
    const subject = this.#hooks.describe({ ...place, caller });
    const use = { ...subject, id: caller?.callId ?? this.#hooks.newId(), tool, input };
    const answer = await this.#hooks.tools.preToolUse(use, this.#signal);
    this.#context.push(...answer.context);
    return {
      use: answer.kind === "continue" && answer.input !== undefined ? { ...use, input: answer.input } : use,
      answer,
    };
  }

  /** What the model reads of a use that is over. */
  async after(use: HookedUse | undefined, result: ToolCallResult): Promise<ToolCallResult> {
    if (this.#hooks === undefined || use === undefined || result.isError) return result;
    const { output, structured, text } = result;
    const { context, feedback } = await this.#hooks.tools.postToolUse(use, output ?? structured ?? text, this.#signal);
    this.#context.push(...context);
    return feedback === undefined ? result : { ...result, text: feedback };
  }

  /** Adds what hooks tell the model to the text, unless the caller takes it. */
  finish(result: ToolCallResult, onContext: ((text: string) => void) | undefined): ToolCallResult {
    const own = this.#context.splice(0);
    if (onContext !== undefined) for (const text of own) onContext(text);
    // Who takes context also takes that of hooks in the background.
    const context = onContext === undefined ? [...own, ...(this.#hooks?.tools.takeContext() ?? [])] : [];
    if (context.length === 0) return result;
    return { ...result, text: [result.text.replace(/\n$/, ""), ...context].join("\n\n") };
  }
}

/** For calls that are only judged: hooks are asked when a call is made. */
export const NO_CALL_HOOKS = new CallHooks(undefined, {});
