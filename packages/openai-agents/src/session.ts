import { type LiveOutput, type Orchestrator, SessionGroup, type ToolCallResult } from "@codex/orchestrator";
import { defined } from "@codex/values";
import { Manifest, type SandboxSession } from "@openai/agents/sandbox";
import { checkUser, createSessionFiles, type SessionFiles } from "./session-files.js";

/** Options of `codexSession`. */
export interface CodexSessionOptions {
  /** Environment to use. Default: the orchestrator's first. */
  environment?: string;
  /** Default working directory of commands: an absolute path on the environment's host. */
  cwd?: string;
  /** Client name, where several clients share the orchestrator. */
  client?: string;
  /** Stops calls from waiting; commands continue until `close`. */
  signal?: AbortSignal;
  /** Called with the output of calls as it arrives, in order. If it returns a promise, the program is paused until that settles. */
  onOutput?: (output: LiveOutput) => unknown;
}

/** A sandbox session on an executor. */
export type CodexSession = SandboxSession &
  Required<Pick<SandboxSession, "execCommand" | "writeStdin" | "supportsPty" | "close">> &
  SessionFiles;

/**
 * The commands and files of an orchestrator as a sandbox session, for a `SandboxAgent` with `shell()` and `filesystem()`. The policy and
 * the orchestrator's approver apply. The model reads the text of `callTool`; a patch that is refused or does not fit is reported as failed,
 * with the reason. All methods reject if `runAs` names a user.
 */
export function codexSession(orchestrator: Orchestrator, options: CodexSessionOptions = {}): CodexSession {
  const { environment, cwd, client, signal, onOutput } = options;
  const conversation = orchestrator.createConversation({
    ...(environment === undefined ? {} : { environments: [{ id: environment, ...defined({ cwd }) }] }),
    ...defined({ client }),
  });
  const sessions = new SessionGroup({
    listTools: () => conversation.listTools(),
    judge: (name, args) => conversation.judge(name, args),
    callTool: (name, args, more): Promise<ToolCallResult> =>
      conversation.callTool(name, args, {
        ...(cwd === undefined || environment !== undefined ? {} : { cwd }),
        ...more,
      }),
  });
  const call = async (name: string, args: object) => {
    const result = await sessions.callTool(name, args, defined({ signal, onOutput }));
    return result.text;
  };
  return {
    state: { manifest: new Manifest(describeRoot(cwd ?? conversation.listEnvironments()[0]?.cwd)) },
    execCommand: async ({ cmd, workdir, shell, login, tty, yieldTimeMs, maxOutputTokens, runAs }) => {
      checkUser(runAs);
      return call("exec_command", {
        cmd,
        workdir,
        shell,
        login,
        tty,
        yield_time_ms: yieldTimeMs,
        max_output_tokens: maxOutputTokens,
      });
    },
    writeStdin: ({ sessionId, chars, yieldTimeMs, maxOutputTokens }) =>
      call("write_stdin", {
        session_id: sessionId,
        chars,
        yield_time_ms: yieldTimeMs,
        max_output_tokens: maxOutputTokens,
      }),
    supportsPty: () => true,
    ...createSessionFiles(orchestrator.files, defined({ environment, cwd, client, signal })),
    close: () => sessions.close(),
  };
}

/** The workspace that the SDK names in its instructions. It accepts POSIX directories only. */
const describeRoot = (cwd: string | undefined) => (cwd?.startsWith("/") ? { root: cwd } : {});
