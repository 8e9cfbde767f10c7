import { type Clock, systemClock } from "@codex/clock";
import { AskedCalls, type LiveOutput, SessionGroup, type ToolCaller, type ToolCallResult } from "@codex/orchestrator";
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
  /** Called with the output of calls as it arrives, in order. A promise it returns holds the program back until it settles. */
  onOutput?: (output: LiveOutput & { toolCallId: string }) => unknown;
  /** For version 6 of `ai`, which asks about a tool and not for a request: what `codexApproval` returned. */
  approval?: CodexApproval;
  clock?: Clock;
}

/** What a tool returns: first with the status `running`, whenever there is output, and then its result. */
export type CodexToolOutput =
  /** `text`: the end of the output, at most 4 KB. */
  | { status: "running"; text: string }
  /** As `callTool` returns it; `text` is what the model reads. */
  | Pick<ToolCallResult, "status" | "text" | "isError" | "structured" | "environment">;

/** A class for the compiler alone: what is a method of one is no tool where the tools are spread. */
declare abstract class Leftovers {
  /** Ends the sessions that calls of these tools have left running. */
  dispose(): Promise<void>;
  /** `dispose`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The tools by name, and the end of what their calls have left; neither method is enumerable. */
export type CodexTools = ToolSet & Leftovers;

/** The tools of an orchestrator as they are now, for `generateText`, `streamText` and agents of `ai` 6 and 7. */
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
      // Without `validate`: arguments are judged by the orchestrator, which says what is wrong with them.
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
  // Both properties were just defined.
  return tools as CodexTools;
}

/** The output of a call, wherever `ai` passes it: 6.0 passes it among others, earlier betas alone. */
function outputOf(given: unknown): CodexToolOutput {
  // What `execute` yielded, through messages that may be stored.
  return (typeof given === "object" && given !== null && "output" in given ? given.output : given) as CodexToolOutput;
}

/** The text of the result, byte for byte, as what it is. */
function toModelOutput({ status, text, ...rest }: CodexToolOutput) {
  if (status === "denied") return { type: "execution-denied" as const, reason: text };
  const isError = "isError" in rest && rest.isError;
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

/** Each value replaces the one before; the last is the result. */
async function* run(
  { name, input, toolCallId, abortSignal }: Call,
  { asked, sessions, clock, onOutput }: RunContext,
): AsyncGenerator<CodexToolOutput> {
  const tail = new OutputTail();
  const given = new AbortController();
  const signal = abortSignal === undefined ? given.signal : AbortSignal.any([abortSignal, given.signal]);
  let result: ToolCallResult | undefined;
  const finished = sessions
    .callTool(name, input, {
      ...asked.grant(toolCallId),
      signal,
      onOutput(output) {
        tail.add(output.bytes);
        return onOutput?.({ ...output, toolCallId });
      },
    })
    .then((ended) => {
      result = ended;
      return ended;
    });
  try {
    for (;;) {
      await Promise.race([finished, tail.changed()]);
      if (result !== undefined) break;
      yield { status: "running", text: tail.take() };
      await Promise.race([finished, wait(clock)]);
    }
    const { status, text, isError, structured, environment } = await finished;
    yield { status, text, isError, structured, ...(environment === undefined ? {} : { environment }) };
  } finally {
    // Nobody waits any more: what runs goes on as a session.
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
  // What is refused runs into its refusal: the model reads the reason.
  if (judged.kind !== "ask") return { type: "not-applicable" as const };
  const isRepeat = isRepeated(toolCallId, messages) && !(trustsMessages && !asked.has(toolCallId));
  // What an answer is about must not change with the question.
  if (!isRepeat) {
    asked.add(toolCallId, judged.digest);
    onRequest?.(judged.request, toolCallId);
  }
  return { type: "user-approval" as const, reason: judged.request.reason };
}
