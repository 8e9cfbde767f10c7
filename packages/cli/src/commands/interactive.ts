import { styleText } from "node:util";
import { createThreadStore } from "@codex/agent/node";
import {
  type AgentSession,
  type ConversationHandle,
  createConversationTerminal,
  createSavedSession,
  describeApprovals,
  PromptError,
  readDiff,
  readImages,
  TerminalConversation,
} from "@codex/agent-terminal";
import { createTerminalApprover } from "@codex/agent-terminal/approvals";
import { visible } from "@codex/agent-terminal/text";
import { systemClock } from "@codex/clock";
import { codexHome } from "@codex/config";
import { VERSION } from "@codex/servers";
import type { AgentCommandOptions, ThreadChoice } from "../agent/agent-options.js";
import { createLiveView } from "../agent/live-view.js";
import { openAgent } from "../agent/open-agent.js";
import { chooseThread } from "../agent/open-thread.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { createTerminalQuestions } from "../mcp/terminal-questions.js";
import { savedRulesFile } from "../rule-files.js";
import { chooseRunSandbox } from "../run-sandbox.js";
import { VERSION_LINE } from "../version.js";

/** Runs an interactive conversation at this terminal; without a terminal, `codex exec`. @throws CommandError */
export async function runInteractive(
  prompt: string | undefined,
  choice: ThreadChoice | { kind: "pick" },
  options: AgentCommandOptions,
): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    if (choice.kind === "pick")
      throw await (await import("./threads.js")).describeMissingThread("resume without a terminal");
    const { askForApproval: _nobodyIsAsked, ...rest } = options;
    return (await import("./exec.js")).runExec(prompt, choice, rest);
  }
  const hasColors = process.stdout.hasColors();
  const conversation = new TerminalConversation({
    terminal: createConversationTerminal(process.stdin, process.stdout, process.env),
    title: VERSION_LINE,
    prompt,
    images: await readImages(options.image ?? []).catch(toCommandError),
    picks: choice.kind === "pick",
    open: (handle) => openSession(choice.kind === "pick" ? { kind: "new" } : choice, options, handle),
    paint: hasColors ? (style, text) => styleText(STYLES[style], text) : (_style, text) => text,
    clock: systemClock,
    suspend: () => process.kill(0, "SIGTSTP"),
    abandon: () => process.exit(EXIT.failure),
  });
  const ending = watchSignals(conversation);
  const showAll = showErrors(conversation);
  try {
    await conversation.run();
  } finally {
    showAll();
    ending.settle();
  }
}

const STYLES = { heading: "bold", good: "green", bad: "red", faint: "dim" } as const;

function toCommandError(error: unknown): never {
  if (!(error instanceof PromptError)) throw error;
  throw new CommandError(error.message, EXIT.failure, { cause: error });
}

async function openSession(
  choice: ThreadChoice,
  options: AgentCommandOptions,
  handle: ConversationHandle,
): Promise<AgentSession> {
  const rulesFile = savedRulesFile();
  const chosen = await chooseThread(choice, process.cwd());
  const live = createLiveView({ ...options, once: true });
  try {
    const opened = await openAgent(
      { ...options, skipGitRepoCheck: true },
      {
        approver: {
          requestApproval: (request, { signal }) =>
            handle.ask(
              (terminal) => createTerminalApprover(rulesFile, terminal).requestApproval(request, { signal }),
              signal,
            ),
        },
        askPerson: (question, { signal }) =>
          handle.ask((terminal) => createTerminalQuestions(terminal)(question, { signal }), signal),
        threadCwd: chosen.opened?.meta.cwd,
        threadEnvironment: chosen.opened?.meta.environment,
        live,
      },
    );
    const { config, workspace, executor, orchestrator, providerId, settings } = opened;
    const cwd = workspace.cwd ?? executor.host?.cwd ?? process.cwd();
    const { sandbox, approvalPolicy } = config.settings;
    const mode = sandbox.mode ?? "read-only";
    const policy = typeof approvalPolicy === "string" ? approvalPolicy : undefined;
    const isOwn = options.executor === undefined && executor.name === "local";
    const holdGit = () =>
      chooseRunSandbox(mode === "danger-full-access" ? mode : "read-only", { host: executor.host, cwd, isOwn });
    return await createSavedSession({
      createAgent: (model = settings.model) => opened.createAgent(model),
      model: settings.model,
      store: createThreadStore({ home: codexHome(), version: VERSION, source: "cli" }),
      newThread: { cwd, modelProvider: providerId, environment: executor.name },
      ephemeral: options.ephemeral === true,
      opened: chosen.opened,
      orchestrator,
      facts: { directory: cwd, environment: executor.name, provider: providerId, sandbox: mode },
      approvals: describeApprovals({ policy, sandbox: mode, rulesFile }),
      diff: async (signal) =>
        readDiff(orchestrator, { executor: executor.name, cwd, signal, sandbox: (await holdGit()).sandbox }),
      openView: (show) => live.attach(orchestrator, show),
      close: () => opened.close(),
      clock: systemClock,
    });
  } catch (error) {
    await chosen.file?.close();
    throw error;
  }
}

/** Handles SIGINT from the terminal, and SIGTERM and SIGHUP, by which the process finally dies. */
function watchSignals(conversation: TerminalConversation) {
  let received: NodeJS.Signals | undefined;
  const interrupt = () => conversation.interrupt();
  const end = (name: NodeJS.Signals) => {
    if (received !== undefined) process.exit(EXIT.failure);
    received = name;
    conversation.leave();
  };
  const restore = () => conversation.restore();
  process.on("SIGINT", interrupt);
  for (const name of ENDS) process.on(name, end);
  process.on("exit", restore);
  return {
    settle() {
      process.off("SIGINT", interrupt);
      for (const name of ENDS) process.off(name, end);
      process.off("exit", restore);
      if (received !== undefined) process.kill(process.pid, received);
    },
  };
}

const ENDS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP"];

/** Redirects stderr of this process to the area above the input. */
function showErrors(conversation: TerminalConversation): () => void {
  const { stderr } = process;
  if (!stderr.isTTY) return () => {};
  const { write } = stderr;
  const show = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    conversation.write(`${visible(String(typeof chunk === "string" ? chunk : Buffer.from(chunk))).trim()}\n`);
    const done = rest.at(-1);
    if (typeof done === "function") done();
    return true;
  };
  stderr.write = show as typeof write; // its overloads differ in what is optional
  return () => {
    stderr.write = write;
  };
}
