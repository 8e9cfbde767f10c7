/** Something an audit log records. What is secret, or may be, is not in it: no output, input, environment or free text. */
export type AuditEvent = CallEvent | ApprovalEvent | ResultEvent | MarkerEvent;

/** A call of a tool, before anything is sent; one that is refused has its `status` here and no result. */
export interface CallEvent {
  type: "call";
  /** Joins the records of one call. */
  call: string;
  tool: string;
  /** False: nothing was sent. */
  runs: boolean;
  /** Name of the executor. */
  environment?: string;
  /** SHA-256 of the argv as JSON; hex. */
  argvSha256?: string;
  /** The argv without what looks like a secret; only where that is configured. */
  argv?: string[];
  /** SHA-256 of the arguments of any other tool as JSON; hex. */
  argumentsSha256?: string;
  cwd?: string;
  tty?: boolean;
  /** The session written to, by the model's id. */
  session?: number;
  sandboxPermissions?: string;
  requirement?: "skip" | "needsApproval" | "forbidden";
  /** What in the policy decided. */
  cause?: string;
  /** The rules that match. */
  rules?: { decision: "allow" | "prompt" | "forbidden"; rule: string }[];
  decidedBy?: DecidedBy;
  /** `null`: none was selected, or the command may run outside. */
  sandbox?: SandboxSummary | null;
  status?: string;
  code?: string;
  /** It was too large, and parts are left out. */
  cut?: true;
}

/** `session`: remembered from an earlier decision. `nobody`: there was no approver. `failure`: asking for approval failed. */
export type DecidedBy = "policy" | "rule" | "user" | "session" | "nobody" | "timeout" | "failure" | "interrupt";

/** The sandbox of a call, as far as it is recorded. */
export interface SandboxSummary {
  type: "disabled" | "external" | "managed";
  network?: "restricted" | "enabled";
  fileSystem?: "unrestricted" | "restricted";
  /** Of the whole as JSON; hex. */
  sha256: string;
}

/** The decision on an approval, as soon as it is made. */
interface ApprovalEvent {
  type: "approval";
  call: string;
  approval: string;
  decision: "approved" | "denied" | "cancelled" | "interrupted";
  by: DecidedBy;
  /** A rule was to be saved with it. */
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
  /** The session that lives on, by the model's id. */
  session?: number;
  /** Bytes of the output this result is about, and those it leaves out; the end is exclusive. */
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
  /** The file ended before the record that was known to be its last. */
  | { type: "gap"; lastSeq: number; lastHash: string }
  /** The chain continues from a file that was full. */
  | { type: "rotated"; file: string };
