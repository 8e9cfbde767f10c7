/** An event of an audit log. It contains nothing that may be secret: no output, input, environment or free text. */
export type AuditEvent =
  | CallEvent
  | ApprovalEvent
  | ProgramEvent
  | HostEvent
  | OmittedEvent
  | ResultEvent
  | MarkerEvent;

/** A tool call, before anything is sent; a refused one has its `status` here and no result. */
export interface CallEvent {
  type: "call";
  /** Identifies the call; the same in all of its records. */
  call: string;
  tool: string;
  /** False: nothing was sent. */
  runs: boolean;
  /** Name of the executor. */
  environment?: string;
  /** SHA-256 of the argv as JSON; hex. */
  argvSha256?: string;
  /** The argv without what looks like a secret; only if configured. */
  argv?: string[];
  /** SHA-256 of the arguments of any other tool as JSON; hex. */
  argumentsSha256?: string;
  cwd?: string;
  tty?: boolean;
  /** The session that the call writes to, by the model's id. */
  session?: number;
  sandboxPermissions?: string;
  requirement?: "skip" | "needsApproval" | "forbidden";
  /** The part of the policy that decided. */
  cause?: string;
  /** The matching rules. */
  rules?: { decision: "allow" | "prompt" | "forbidden"; rule: string }[];
  decidedBy?: DecidedBy;
  /** `null`: none was selected, or the command may run outside. */
  sandbox?: SandboxSummary | null;
  status?: string;
  code?: string;
  /** The record was too large: `argv` and `rules` are left out. */
  cut?: true;
}

/** A program that a command started and that did not simply run in its sandbox. */
export interface ProgramEvent {
  type: "program";
  call: string;
  /** Its file, or the name by which it was called. */
  program: string;
  /** SHA-256 of the argv as JSON; hex. */
  argvSha256: string;
  decision: "refused" | "killed" | "inside" | "outside";
  reason: string;
  rule?: string;
  times: number;
  /** Of a program outside of its sandbox. */
  exitCode?: number;
}

/** What a command did about a host within a second or so: equal decisions, and connections that ended. */
interface HostEvent {
  type: "host";
  call: string;
  host: string;
  port: number;
  protocol: "http" | "connect" | "socks5" | "direct";
  decision: "allow" | "deny";
  /** Who decided: the policy, an answer, one that was remembered, a limit, the name in a TLS handshake; `network`: it was allowed, and not reached. */
  by: "policy" | "asked" | "remembered" | "limit" | "sni" | "network";
  reason?: string;
  /** The pattern of the rule, and where it stands. */
  rule?: string;
  source?: string;
  /** Decisions. */
  count: number;
  /** Connections that have ended, and their bytes from the command to the host and back. */
  ended: number;
  sent: number;
  received: number;
}

/** Decisions about hosts that are not recorded apart. */
interface OmittedEvent {
  type: "hosts_omitted";
  call: string;
  count: number;
}

/** `hook`: a program of the user that is asked first. `client`: a program decided on behalf of a person. `model`: a model decided. `session`: remembered from an earlier decision. `nobody`: there was no approver. `failure`: asking for approval failed. */
export type DecidedBy =
  | "policy"
  | "rule"
  | "hook"
  | "user"
  | "client"
  | "model"
  | "session"
  | "nobody"
  | "timeout"
  | "failure"
  | "interrupt";

/** The recorded part of a call's sandbox. */
export interface SandboxSummary {
  type: "disabled" | "external" | "managed";
  network?: "restricted" | "enabled";
  fileSystem?: "unrestricted" | "restricted";
  /** SHA-256 of the whole sandbox as JSON; hex. */
  sha256: string;
}

/** The decision on an approval, recorded when it is made. */
interface ApprovalEvent {
  type: "approval";
  call: string;
  approval: string;
  decision: "approved" | "denied" | "cancelled" | "interrupted";
  by: DecidedBy;
  /** Where the decision came from, such as a view. */
  via?: string;
  /** The user asked to save a rule with it. */
  savesRule?: true;
}

/** The result of a call that was sent. */
export interface ResultEvent {
  type: "result";
  call: string;
  status: string;
  code?: string;
  outcome?: { kind: string; code?: number; signal?: string; by?: string };
  exitCode?: number;
  /** The session that is still running, by the model's id. */
  session?: number;
  /** The byte range of output that this result covers, and the ranges in it that it omits; ends are exclusive. */
  range?: [from: number, to: number];
  omitted?: [from: number, to: number][];
  sandboxDenied?: boolean;
}

/** An event of the log itself. */
type MarkerEvent =
  /** The line before is not a record: writing it was interrupted. */
  | { type: "torn"; bytes: number; sha256: string }
  /** Records that could not be written. */
  | { type: "lost"; records: number }
  /** The file ended before the last record that was known to be in it. */
  | { type: "gap"; lastSeq: number; lastHash: string }
  /** The chain continues from a file that was full. */
  | { type: "rotated"; file: string };
