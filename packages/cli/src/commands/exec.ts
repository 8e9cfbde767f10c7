import { openSync } from "node:fs";
import { ReadStream, WriteStream } from "node:tty";
import { styleText } from "node:util";
import type { ContentPart } from "@codex/agent";
import {
  createJsonView,
  createOutputSink,
  createTextView,
  describeReview,
  openLastMessageFile,
  type Paint,
  PromptError,
  REVIEW_INSTRUCTIONS,
  type ReviewTarget,
  readImages,
  readPrompt,
  readSchema,
  renderHeader,
  renderReview,
  runShownTurn,
  type ShownTurnResult,
} from "@codex/agent-terminal";
import { createTerminalApprover } from "@codex/agent-terminal/approvals";
import { systemClock } from "@codex/clock";
import type { Approver } from "@codex/orchestrator";
import { defined } from "@codex/values";
import type { ExecOptions, ThreadChoice } from "../agent/agent-options.js";
import { type OpenedAgent, openAgent } from "../agent/open-agent.js";
import { chooseThread, startThread } from "../agent/open-thread.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { written } from "../foreground/standard-output.js";
import { forTerminal, say } from "../notice.js";
import { savedRulesFile } from "../rule-files.js";
import { VERSION_LINE } from "../version.js";

/** Runs and shows one turn of an agent, or a review. @throws CommandError before the first request */
export async function runExec(
  prompt: string | undefined,
  choice: ThreadChoice,
  options: ExecOptions,
  review?: Exclude<ReviewTarget, { kind: "custom" }> | { kind: "custom" },
): Promise<void> {
  const ending = watchSignals();
  try {
    const { outputLastMessage, cd = ".", addDir = [] } = options;
    const lastMessage =
      outputLastMessage === undefined ? undefined : await openLastMessageFile(outputLastMessage, [cd, ...addDir]);
    try {
      const outputSchema = options.outputSchema === undefined ? undefined : await readSchema(options.outputSchema);
      const images = await readImages(options.image ?? []);
      const text = await readTask(prompt, options, review);
      const content: ContentPart[] = [...images, { type: "input_text", text }];
      const result = await runTurn({
        text,
        content,
        review: review !== undefined,
        choice,
        options,
        outputSchema,
        lastMessage,
        signal: ending.signal,
      });
      if (result.end.type === "turn_failed") process.exitCode = EXIT.failure;
      else if (outputSchema !== undefined) await checkAnswer(outputSchema, result.finalMessage);
    } finally {
      await lastMessage?.close();
    }
  } catch (error) {
    if (!(error instanceof PromptError)) throw error;
    throw new CommandError(error.message, error.code === "usage" ? EXIT.usage : EXIT.failure, { cause: error });
  } finally {
    await ending.settle();
  }
}

/** Checks the schema here as well, since not all endpoints enforce it. */
async function checkAnswer(schema: object, answer: string): Promise<void> {
  const { findAnswerProblem } = await import("@codex/agent-terminal/schema");
  const problem = findAnswerProblem(schema, answer);
  if (problem !== undefined) say(`--output-schema: ${problem}`);
}

/** Reads the prompt. A review reads stdin only when that is its prompt. */
function readTask(
  argument: string | undefined,
  { stdin: reads }: ExecOptions,
  review: Parameters<typeof runExec>[3],
): Promise<string> {
  if (review !== undefined && review.kind !== "custom") return Promise.resolve(describeReview(review));
  const stdin = reads === false || (review !== undefined && argument !== "-") ? undefined : process.stdin;
  return readPrompt({ argument, stdin, say });
}

interface TurnToRun {
  text: string;
  review: boolean;
  content: readonly ContentPart[];
  choice: ThreadChoice;
  options: ExecOptions;
  outputSchema: object | undefined;
  lastMessage: Awaited<ReturnType<typeof openLastMessageFile>> | undefined;
  signal: AbortSignal;
}

async function runTurn(turn: TurnToRun): Promise<ShownTurnResult> {
  const { content, choice, options, outputSchema, lastMessage } = turn;
  const chosen = await chooseThread(choice, process.cwd());
  try {
    const meta = chosen.opened?.meta;
    const instructions = turn.review ? REVIEW_INSTRUCTIONS : undefined;
    const live = options.view === true ? (await import("../agent/live-view.js")).createLiveView(options) : undefined;
    const opened = await openAgent(options, {
      approver: openApprover(options),
      threadCwd: meta?.cwd,
      threadEnvironment: meta?.environment,
      instructions,
      live,
    });
    const { agent, workspace, executor, providerId } = opened;
    try {
      const cwd = workspace.cwd ?? executor.host?.cwd ?? process.cwd();
      const facts = {
        cwd,
        modelProvider: providerId,
        environment: executor.name,
        ephemeral: options.ephemeral === true,
      };
      const { thread, close } = await startThread(agent, chosen, facts);
      try {
        const { view, closed } = await openView(turn, opened, thread.id);
        const result = await runShownTurn({
          thread,
          prompt: content,
          view,
          lastMessage,
          renderMessage: turn.review ? renderReview : undefined,
          options: {
            signal: AbortSignal.any([turn.signal, closed]),
            ...defined({ outputSchema, maxResponses: options.maxTurns }),
            ...(options.timeout === undefined ? {} : { timeoutMs: Math.ceil(options.timeout * 1000) }),
          },
        });
        await live?.untilLeft(turn.signal);
        for (const { sessionId, command } of result.leftRunning)
          say(`session ${sessionId} still ran and is ended: ${command}`);
        return result;
      } finally {
        await thread.end();
        await close();
      }
    } finally {
      await opened.close();
    }
  } finally {
    await chosen.file?.close();
  }
}

async function openView({ text, options }: TurnToRun, opened: OpenedAgent, threadId: string) {
  const result = createOutputSink(process.stdout, forTerminal(process.stdout));
  if (options.json === true || options.experimentalJson === true) {
    return { view: createJsonView(result, { deltas: options.jsonDeltas === true }), closed: result.closed };
  }
  const log = createOutputSink(process.stderr);
  const { settings, config, workspace, executor, providerId } = opened;
  const { approvalPolicy, sandbox } = config.settings;
  const header = {
    directory: workspace.cwd ?? executor.host?.cwd,
    environment: executor.name,
    model: settings.model,
    provider: providerId,
    approval: typeof approvalPolicy === "string" ? approvalPolicy : "granular",
    sandbox: sandbox.mode,
    "reasoning effort": settings.reasoning.effort,
    thread: threadId,
  };
  await log.write(renderHeader(VERSION_LINE, header, text));
  const shared = process.stdout.isTTY && process.stderr.isTTY;
  const view = createTextView({ log, result, shared, paint: choosePaint(options.color ?? "auto"), clock: systemClock });
  return { view, closed: result.closed };
}

const STYLES = { heading: "bold", good: "green", bad: "red", faint: "dim" } as const;

function choosePaint(color: "always" | "never" | "auto"): Paint {
  const isOn = color === "always" || (color === "auto" && process.stderr.isTTY && process.stderr.hasColors());
  return isOn ? (style, text) => styleText(STYLES[style], text, { validateStream: false }) : (_style, text) => text;
}

/** Creates an approver on the controlling terminal, even if streams are redirected. @throws CommandError without one */
function openApprover({ approvals }: ExecOptions): Approver | undefined {
  if (approvals !== "ask") return undefined;
  try {
    const terminal = {
      input: new ReadStream(openSync("/dev/tty", "r")),
      output: new WriteStream(openSync("/dev/tty", "w")),
    };
    terminal.input.unref();
    return createTerminalApprover(savedRulesFile(), terminal);
  } catch (cause) {
    throw new CommandError("--approvals ask needs a terminal, and there is none to ask at", EXIT.usage, { cause });
  }
}

/** The first SIGINT or SIGTERM ends the turn; a second one ends this process. After SIGTERM the process dies by it. */
function watchSignals() {
  const stop = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (name: NodeJS.Signals) => {
    if (received !== undefined) process.exit(EXIT.failure);
    received = name;
    stop.abort(new Error(`the turn was interrupted by ${name}`));
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: stop.signal,
    async settle() {
      for (const name of SIGNALS) process.off(name, onSignal);
      if (received === undefined || received === "SIGINT") return;
      await written(process.stdout);
      process.kill(process.pid, received);
    },
  };
}

const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
