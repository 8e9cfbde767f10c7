import type { ConfigFlags } from "@codex/config";
import type { SandboxMode } from "@codex/executor-protocol";
import type { ConnectOptions } from "../connect.js";
import type { LiveViewOptions } from "./live-view.js";

/** Options of every command that runs an agent. */
export interface AgentCommandOptions
  extends ConnectOptions,
    LiveViewOptions,
    Pick<ConfigFlags, "config" | "profile" | "askForApproval" | "dangerouslyBypassHookTrust"> {
  model?: string;
  oss?: boolean;
  localProvider?: string;
  sandbox?: SandboxMode;
  permissionProfile?: string;
  cd?: string;
  addDir?: string[];
  image?: string[];
  enable?: string[];
  disable?: string[];
  strictConfig?: boolean;
  dangerouslyBypassApprovalsAndSandbox?: boolean;
  yolo?: boolean;
  skipGitRepoCheck?: boolean;
  ephemeral?: boolean;
  /** Mark the project as trusted before reading its settings. */
  trust?: boolean;
  ignoreUserConfig?: boolean;
  /** Let the model decide about approvals, in the sandbox mode `workspace-write`. */
  approveForMe?: boolean;
  /** Do not load rules of user and project. */
  ignoreRules?: boolean;
}

/** Options of `codex exec`. */
export interface ExecOptions extends AgentCommandOptions {
  json?: boolean;
  experimentalJson?: boolean;
  jsonDeltas?: boolean;
  outputSchema?: string;
  outputLastMessage?: string;
  color?: "always" | "never" | "auto";
  /** False: `--no-stdin`. */
  stdin?: boolean;
  maxTurns?: number;
  /** Seconds. */
  timeout?: number;
  approvals?: "never" | "ask";
}

/** The thread of a run. */
export type ThreadChoice =
  | { readonly kind: "new" }
  | { readonly kind: "resume" | "fork"; readonly id: string }
  | { readonly kind: "last"; readonly all: boolean };
