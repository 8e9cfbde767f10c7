import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import type { Orchestrator } from "@codex/orchestrator";
import { afterEach } from "vitest";

const closes: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

/** An orchestrator of this host, closed after the test. Without `policy` everything runs. */
export async function openOrchestrator(options: LocalOrchestratorOptions = {}): Promise<Orchestrator> {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = await createLocalOrchestrator({ policy, defaults: { login: false, shell: "sh" }, ...options });
  closes.push(() => orchestrator.close());
  return orchestrator;
}

/** A tool call that a scripted model makes. */
interface ScriptedCall {
  id?: string;
  tool: string;
  args: object;
}

/** What a scripted model is given. */
export interface Prompt {
  prompt: readonly { role: string; content: unknown }[];
}

/** What the tool calls of the last step came to, as the model reads them. */
export function outputsOf({ prompt }: Prompt): { type: string; value?: unknown; reason?: string }[] {
  const last = prompt.at(-1);
  if (last?.role !== "tool" || !Array.isArray(last.content)) return [];
  return last.content.flatMap((part) => (part.type === "tool-result" ? [part.output] : []));
}

type Steps = readonly (readonly ScriptedCall[])[];

/** A stack of `ai`, and a model of it that makes these calls, a list for each step, and then says that it is done. */
export interface Stack {
  name: string;
  /** Node needs at least this major. */
  node: number;
  load(): Promise<{
    ai: typeof import("ai");
    createModel: (steps: Steps) => { model: import("ai").LanguageModel; prompts: Prompt[] };
  }>;
}

type Content =
  | { type: "text"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: string };

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function createAnswers(steps: Steps) {
  const prompts: Prompt[] = [];
  let ids = 0;
  const answer = async (given: Prompt) => {
    const calls = steps[prompts.length] ?? [];
    prompts.push(given);
    const content: Content[] = calls.map(({ id, tool, args }) => ({
      type: "tool-call",
      toolCallId: id ?? `call-${++ids}`,
      toolName: tool,
      input: JSON.stringify(args),
    }));
    const isOver = content.length === 0;
    const over: Content[] = [{ type: "text", text: "done" }];
    return {
      content: isOver ? over : content,
      finishReason: { unified: isOver ? ("stop" as const) : ("tool-calls" as const), raw: undefined },
      usage,
      warnings: [],
    };
  };
  const stream = async (given: Prompt) => {
    const { content, finishReason } = await answer(given);
    const parts = content.flatMap((part): object[] =>
      part.type === "text"
        ? [
            { type: "text-start" as const, id: "1" },
            { type: "text-delta" as const, id: "1", delta: part.text },
            { type: "text-end" as const, id: "1" },
          ]
        : [part],
    );
    return {
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
          for (const part of parts) controller.enqueue(part);
          controller.enqueue({ type: "finish", finishReason, usage });
          controller.close();
        },
      }),
    };
  };
  return { prompts, answer, stream };
}

export const STACKS: readonly Stack[] = [
  {
    name: "ai 6.0.0",
    node: 20,
    async load() {
      const ai = await import("ai-6");
      const { MockLanguageModelV3 } = await import("ai-6/test");
      return {
        // Its functions take what those of version 7 take, as far as the tests use them.
        ai: ai as unknown as typeof import("ai"),
        createModel(steps) {
          const { prompts, answer, stream } = createAnswers(steps);
          const model = new MockLanguageModelV3({ doGenerate: answer, doStream: stream });
          return { prompts, model: model as unknown as import("ai").LanguageModel };
        },
      };
    },
  },
  {
    name: "ai 7.0.173",
    node: 22,
    async load() {
      const ai = await import("ai");
      const { MockLanguageModelV4 } = await import("ai/test");
      return {
        ai,
        createModel(steps) {
          const { prompts, answer, stream } = createAnswers(steps);
          return { prompts, model: new MockLanguageModelV4({ doGenerate: answer, doStream: stream }) };
        },
      };
    },
  },
];

/** Whether this Node can run a stack. */
export const canRun = ({ node }: Stack): boolean => Number(process.versions.node.split(".")[0]) >= node;
