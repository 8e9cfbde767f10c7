import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { ConfigFlags } from "@codex/config";
import type { HostEntryTarget, OnCancel } from "@codex/mcp";
import type { ConnectOptions } from "../connect.js";
import { findExecutable } from "../find-executable.js";

/** The options of the command that its entry repeats. */
export interface EntryOptions extends ConnectOptions, ConfigFlags {
  /** Absolute working directory of calls. */
  cd?: string;
  /** Seconds. */
  maxHold: number;
  onCancel: OnCancel;
  structured: boolean;
  /** False: `--no-file-tools`. */
  fileTools?: boolean;
  rules?: string[];
}

/** The command line that starts this server again, from any directory. */
export function listEntryArguments(options: EntryOptions): Extract<HostEntryTarget, { kind: "command" }> {
  const args = ["mcp-server", ...listOptions(options)];
  // `codex` may be that of OpenAI.
  if (findExecutable("codex-ts") === undefined) return { kind: "command", command: "codex-ts", args };
  return { kind: "command", command: process.execPath, args: [realpathSync(process.argv[1]!), ...args] };
}

function listOptions({ config = [], rules = [], structured, ...given }: EntryOptions): string[] {
  const path = (file: string | undefined) => (file === undefined || file.startsWith("~/") ? file : resolve(file));
  const { executor, environment, registry, tokenFile, caFile, cd, profile, approvalPolicy, askForApproval } = given;
  const values: Readonly<Record<string, string | undefined>> = {
    executor,
    environment,
    registry,
    "token-file": path(tokenFile),
    "ca-file": path(caFile),
    "client-cert": path(given.clientCert),
    "client-key": path(given.clientKey),
    cd,
    profile,
    "approval-policy": approvalPolicy ?? askForApproval,
    sandbox: given.sandbox,
    "max-hold": given.maxHold === DEFAULT_HOLD_S ? undefined : String(given.maxHold),
    "on-cancel": given.onCancel === "keep" ? undefined : given.onCancel,
  };
  return [
    ...Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
    ...config.flatMap((setting) => ["--config", setting]),
    ...rules.flatMap((file) => ["--rules", resolve(file)]),
    ...(structured ? ["--structured"] : []),
    ...(given.fileTools === false ? ["--no-file-tools"] : []),
  ];
}

const DEFAULT_HOLD_S = 50;
