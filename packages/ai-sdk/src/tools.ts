import { type Clock, systemClock, waitUnlessAborted } from "@codex/clock";
import {
  type AnyStructured,
  AskedCalls,
  type LiveOutput,
  nameResult,
  SessionGroup,
  type ToolCaller,
  type ToolCallResult,
  type ToolResults,
} from "@codex/orchestrator";
import { dynamicTool, jsonSchema, type ToolSet } from "ai";
import {
  type ApprovalQuestion,
  type ApprovalTerms,
  ASK,
  type Asker,
  type CodexApproval,
  isRepeated,
} from "./approval.js";
import { TAIL_INTERVAL_MS } from "./limits.js";
import { OutputTail } from "./output-tail.js";

/** How the tools behave. */
export interface CodexToolsOptions {
  /** Called with the output of calls as it arrives, in order. If it returns a promise, the program is paused until that settles. */
  onOutput?: (output: LiveOutput & { toolCallId: string }) => unknown;
  /** The value returned by `codexApproval`. For version 6 of `ai`, where each tool decides whether it needs approval. */
  approval?: CodexApproval;
  clock?: Clock;
}

/** What a tool yields: preliminary values with the status `running` while there is output, then its result. */
export type CodexToolOutput<Structured = AnyStructured> =
  /** `text`: the end of the output, at most 4 KB. */
  | { status: "running"; text: string }
  /** As `callTool` returns it; `text` is what the model reads. */
  | ToolCallResult<Structured>;

/** The output of a tool whose name is known at run time only: `tool` tells what `output.structured` is. */
export type NamedToolOutput =
  | { [Name in keyof ToolResults]: { tool: Name; output: CodexToolOutput<ToolResults[Name]> } }[keyof ToolResults]
  | { tool: "other"; name: string; output: CodexToolOutput<Record<string, unknown>> };

/**
 * A result of `ai`, such as one of `toolResults`, with its output typed by the name of the tool; undefined if it is not one of
 * `codexTools`. The content is not checked again: stored messages that others could have written are for the caller to check.
 */
export function nameOutput({ toolName, output }: { toolName: string; output: unknown }): NamedToolOutput | undefined {
  if (typeof output !== "object" || output === null || !("status" in output && "text" in output)) return undefined;
  // Yielded by `execute`, possibly restored from stored messages.
  const { result: _, ...named } = nameResult(toolName, output as ToolCallResult);
  return { ...named, output } as NamedToolOutput;
}

/** Exists for the type checker only: methods of a class are left out when the tools are spread into another object. */
declare abstract class Leftovers {
  /** Ends the sessions that calls of these tools left running. */
  dispose(): Promise<void>;
  /** Same as `dispose`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The tools by name, plus `dispose`; its two forms are not enumerable. */
export type CodexTools = ToolSet & Leftovers;

/** The current tools of an orchestrator, for `generateText`, `streamText` and agents of `ai` 6 and 7. */
export function codexTools(orchestrator: ToolCaller, options: CodexToolsOptions = {}): CodexTools {
  const { approval, clock = systemClock, onOutput } = options;
  const asked = new AskedCalls();
  const sessions = new SessionGroup(orchestrator);
  const asker: Asker = {
    orchestrator,
    ask: (question, terms) => judge(orchestrator, asked, question, terms),
  };
  const tools: ToolSet = {};
  for (const { name, description, inputSchema } of orchestrator.listTools()) {
    const tool = dynamicTool({
      description,
      // No `validate`: the orchestrator checks the arguments, and its errors name what is wrong.
      inputSchema: jsonSchema(inputSchema),
      execute: (input, { toolCallId, abortSignal }) =>
        run({ name, input, toolCallId, abortSignal }, { asked, sessions, clock, onOutput }),
      toModelOutput: (first: unknown) => toModelOutput(outputOf(first)),
      ...(approval === undefined ? {} : { needsApproval: toNeedsApproval(approval, name, () => tools) }),
    });
    tools[name] = Object.assign(tool, { [ASK]: asker });
  }
  const dispose = () => sessions.close();
  for (const key of ["dispose", Symbol.asyncDispose]) Object.defineProperty(tools, key, { value: dispose });
  // Both properties are defined above.
  return tools as CodexTools;
}

/** The output of a call: `ai` 6.0 and newer pass it as a property, earlier betas as the argument itself. */
function outputOf(given: unknown): CodexToolOutput {
  // A value that `execute` yielded, possibly restored from stored messages.
  return (typeof given === "object" && given !== null && "output" in given ? given.output : given) as CodexToolOutput;
}

/** The text of the result, byte for byte, typed as text, error or denial. */
function toModelOutput({ status, text, ...rest }: CodexToolOutput) {
  if (status === "denied") return { type: "execution-denied" as const, reason: text };
  const isError = "isError" in rest && rest.isError;
  const images = ("images" in rest ? rest.images : undefined) ?? [];
  if (images.length > 0) {
    const pictures = images.map(({ mediaType, data }) => ({ type: "image-data" as const, data, mediaType }));
    return { type: "content" as const, value: [{ type: "text" as const, text }, ...pictures] };
  }
  return { type: isError ? ("error-text" as const) : ("text" as const), value: text };
}

const toNeedsApproval =
  (approval: CodexApproval, toolName: string, tools: () => ToolSet) =>
  async (input: unknown, { toolCallId, messages }: { toolCallId: string; messages: readonly unknown[] }) => {
    const { type } = await approval({ toolCall: { toolName, toolCallId, input }, tools: tools(), messages });
    return type === "user-approval";
  };

interface Call {
  name: string;
  input: unknown;
  toolCallId: string;
  abortSignal: AbortSignal | undefined;
}

interface RunContext {
  asked: AskedCalls;
  sessions: SessionGroup;
  clock: Clock;
  onOutput: CodexToolsOptions["onOutput"];
}

/** Each value replaces the previous one; the last is the result. */
async function* run(
  { name, input, toolCallId, abortSignal }: Call,
  { asked, sessions, clock, onOutput }: RunContext,
): AsyncGenerator<CodexToolOutput> {
  const tail = new OutputTail();
  const given = new AbortController();
  const signal = abortSignal === undefined ? given.signal : AbortSignal.any([abortSignal, given.signal]);
  /** Aborts when the call has ended: a promise that lives as long would keep each wait for it. */
  const ended = new AbortController();
  const finished = sessions
    .callTool(name, input, {
      ...asked.grant(toolCallId),
      signal,
      onOutput(output) {
        tail.add(output.bytes);
        return onOutput?.({ ...output, toolCallId });
      },
    })
    .finally(() => ended.abort());
  try {
    for (;;) {
      await waitUnlessAborted(ended.signal, tail.changed());
      if (ended.signal.aborted) break;
      yield { status: "running", text: tail.take() };
      await waitUnlessAborted(ended.signal, wait(clock));
    }
    yield await finished;
  } finally {
    // The consumer stopped reading: the command continues as a session.
    given.abort();
  }
}

const wait = (clock: Clock) => new Promise<void>((resolve) => clock.after(TAIL_INTERVAL_MS, resolve));

async function judge(
  orchestrator: ToolCaller,
  asked: AskedCalls,
  { toolName, toolCallId, input, messages }: ApprovalQuestion,
  { trustsMessages, onRequest }: ApprovalTerms,
) {
  const judged = await orchestrator.judge(toolName, input);
  // A forbidden call is refused when it is made, so that the model reads the reason.
  if (judged.kind !== "ask") return { type: "not-applicable" as const };
  const isRepeat = isRepeated(toolCallId, messages) && !(trustsMessages && !asked.has(toolCallId));
  // A repeated question must not change which call its answer approves.
  if (!isRepeat) {
    asked.add(toolCallId, judged.digest);
    onRequest?.(judged.request, toolCallId);
  }
  return { type: "user-approval" as const, reason: judged.request.reason };
}
