import type { AuditEvent, AuditLog, CallEvent, DecidedBy, ResultEvent, SandboxSummary } from "@codex/audit";
import { MAX_AUDIT_ARGV_BYTES, MAX_AUDIT_LIST, MAX_AUDIT_TEXT_BYTES, redact, redactWords, sha256 } from "@codex/audit";
import { type HostActivity, type ProgramReport, type Sandbox, unifiedExecResultSchema } from "@codex/executor-protocol";
import type { Requirement, RuleMatch } from "@codex/policy";
import { cutToBytes } from "@codex/telemetry";
import { defined, messageOf } from "@codex/values";
import { safeParse } from "zod/mini";
import type { ApprovalResult } from "../approvals/approval-result.js";
import { fail, type RefusedCall, type ToolCallResult } from "../result.js";

/** The audit log, and how much of calls is recorded. */
export interface AuditOptions {
  /** For example from `createAuditLog` of `@codex/audit`. Not closed by the orchestrator, but flushed by its `close`. */
  log: AuditLog;
  /** A call whose record cannot be written is refused. Default false: it runs, and the record counts as lost. */
  required?: boolean;
  /** Record the words of commands, without what looks like a secret; default their hash alone. */
  includeArgv?: boolean;
}

/** The audit records of one call. Methods are called as the call proceeds; none of them throws. */
export interface Trail {
  /** Records a command, and where it would run. */
  command(
    environment: string,
    command: { command: readonly string[]; cwd: string; tty: boolean; sandboxPermissions: string },
  ): void;
  /** Records the call of any other tool, and its arguments. */
  tool(environment: string, args: unknown, session: number | undefined): void;
  judged(requirement: Requirement, matches: () => readonly RuleMatch[]): void;
  decided(approvalId: string, decision: ApprovalResult): void;
  /** A hook refused the call, before anything else was decided. */
  blocked(): void;
  /** Called before each send. If records are required: resolves when it is recorded, or with the refusal if it cannot be. */
  sending(sandbox: Sandbox | null | undefined): Promise<RefusedCall | undefined> | undefined;
  /** What the command did about hosts since the last time; also after the call has ended. `omitted`: decisions that are not told apart. */
  hosts(hosts: readonly HostActivity[], omitted: number): void;
  /** The result of the last send. */
  answered(result: ToolCallResult): void;
  /** Called when the call has completed; one that was never sent is recorded now. */
  ended(result: ToolCallResult): void;
}

/** Begins the trail of each call. Without options nothing is recorded. */
export class Auditor {
  readonly #options: AuditOptions | undefined;
  readonly #newId: () => string;

  constructor(options: AuditOptions | undefined, newId: () => string) {
    this.#options = options;
    this.#newId = newId;
  }

  begin(tool: string): Trail {
    return this.#options === undefined ? NO_TRAIL : new CallTrail(this.#options, this.#newId(), tool);
  }

  async flush(): Promise<void> {
    await this.#options?.log.flush();
  }
}

/** Records nothing. */
export const NO_TRAIL: Trail = {
  command() {},
  tool() {},
  judged() {},
  decided() {},
  blocked() {},
  sending: () => undefined,
  hosts() {},
  answered() {},
  ended() {},
};

class CallTrail implements Trail {
  readonly #options: AuditOptions;
  readonly #call: CallEvent;
  #isSent = false;

  constructor(options: AuditOptions, id: string, tool: string) {
    this.#options = options;
    this.#call = { type: "call", call: id, tool: short(tool), runs: false };
  }

  command(environment: string, { command, cwd, tty, sandboxPermissions }: Parameters<Trail["command"]>[1]): void {
    const argvSha256 = sha256(JSON.stringify(command));
    delete this.#call.argumentsSha256;
    Object.assign(this.#call, { environment, argvSha256, cwd: short(cwd), tty, sandboxPermissions });
    if (this.#options.includeArgv === true) this.#call.argv = recordedWords(command);
  }

  tool(environment: string, args: unknown, session: number | undefined): void {
    const known = session === undefined ? {} : { session };
    Object.assign(this.#call, { environment, argumentsSha256: sha256(JSON.stringify(args) ?? ""), ...known });
  }

  judged(requirement: Requirement, matches: () => readonly RuleMatch[]): void {
    const rules = matches().slice(0, MAX_AUDIT_LIST);
    this.#call.requirement = requirement.kind;
    this.#call.decidedBy = rules.length > 0 ? "rule" : "policy";
    if (requirement.kind !== "skip") this.#call.cause = describeCause(requirement.cause);
    if (rules.length > 0) this.#call.rules = rules.map(({ decision, rule }) => ({ decision, rule: short(rule) }));
  }

  decided(approvalId: string, answer: ApprovalResult): void {
    const by = decidedBy(answer);
    this.#call.decidedBy = by;
    const via = "via" in answer && answer.via !== undefined ? { via: short(answer.via) } : {};
    const saves =
      answer.kind === "approved" && (answer.rule !== undefined || answer.savesHost === true)
        ? { savesRule: true as const }
        : {};
    void this.#record({
      type: "approval",
      call: this.#call.call,
      approval: approvalId,
      // Granted was another request.
      decision: answer.kind === "changed" ? "denied" : answer.kind,
      by,
      ...via,
      ...saves,
    });
  }

  blocked(): void {
    Object.assign(this.#call, { requirement: "forbidden", decidedBy: "hook", cause: "hook" });
  }

  sending(sandbox: Sandbox | null | undefined): Promise<RefusedCall | undefined> | undefined {
    if (sandbox !== undefined) this.#call.sandbox = summarize(sandbox);
    this.#isSent = true;
    const problem = this.#record({ ...this.#call, runs: true });
    return this.#options.required === true ? problem.then(refuseUnrecorded) : undefined;
  }

  hosts(hosts: readonly HostActivity[], omitted: number): void {
    const { call } = this.#call;
    for (const { host, rule, reason, ...activity } of hosts) {
      const which = defined({ reason, rule: rule && short(rule.pattern), source: rule?.source && short(rule.source) });
      void this.#record({ type: "host", call, host: short(host), ...activity, ...which });
    }
    if (omitted > 0) void this.#record({ type: "hosts_omitted", call, count: omitted });
  }

  answered(result: ToolCallResult): void {
    const { call } = this.#call;
    for (const report of programsOf(result)) {
      const { decision, reason, rule, times, exitCode } = report;
      const argvSha256 = sha256(JSON.stringify(report.argv));
      const program = short(report.program);
      const which = rule === undefined ? {} : { rule: short(rule) };
      void this.#record({
        type: "program",
        call,
        program,
        argvSha256,
        decision,
        reason,
        ...which,
        times,
        ...defined({ exitCode }),
      });
    }
    void this.#record({ type: "result", call, status: result.status, ...codeOf(result), ...describeResult(result) });
  }

  ended(result: ToolCallResult): void {
    if (!this.#isSent) void this.#record({ ...this.#call, status: result.status, ...codeOf(result) });
  }

  /** Resolves with the reason when it could not be written. */
  async #record(event: AuditEvent): Promise<string | undefined> {
    try {
      await this.#options.log.record(event);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}

function refuseUnrecorded(reason: string | undefined): RefusedCall | undefined {
  if (reason === undefined) return undefined;
  const problem = `calls must be recorded, and the audit log cannot be written: ${reason}`;
  return fail("audit_failed", `${problem}. Nothing was run.`);
}

const programsOf = ({ structured }: ToolCallResult): readonly ProgramReport[] =>
  structured !== undefined && "programs" in structured && Array.isArray(structured.programs) ? structured.programs : [];

const codeOf = (result: ToolCallResult) =>
  result.isError && "code" in result.structured ? { code: result.structured.code } : {};

/** Cut after the search for secrets; before it only between words of what is far longer. */
const short = (text: string) =>
  cutToBytes(redact(cutBetweenWords(text, 16 * MAX_AUDIT_TEXT_BYTES)), MAX_AUDIT_TEXT_BYTES);

/** Cuts between words: half a secret would not be recognized as one. */
function cutBetweenWords(text: string, bytes: number): string {
  const cut = cutToBytes(text, bytes);
  return cut === text ? text : cut.replace(/(?<!\S)\S+$/, "");
}

function recordedWords(command: readonly string[]): string[] {
  let bytes = 0;
  const words = command.map((word) => cutBetweenWords(word, MAX_AUDIT_TEXT_BYTES));
  const fitting = words.filter((word) => {
    bytes += Buffer.byteLength(word) + 1;
    return bytes <= MAX_AUDIT_ARGV_BYTES;
  });
  return redactWords(fitting);
}

function describeCause(cause: Extract<Requirement, { cause: unknown }>["cause"]): string {
  return cause.kind === "dangerous" ? `dangerous: ${cause.entry}` : cause.kind;
}

/** What decided about an approval. */
export function decidedBy(answer: ApprovalResult): DecidedBy {
  switch (answer.kind) {
    case "approved":
    case "denied":
    case "cancelled":
      return answer.by;
    case "interrupted":
      return "interrupt";
    case "changed":
      return "failure";
  }
}

function summarize(sandbox: Sandbox | null): SandboxSummary | null {
  if (sandbox === null) return null;
  const { permissions } = sandbox;
  const summary: SandboxSummary = { type: permissions.type, sha256: sha256(JSON.stringify(sandbox)) };
  if (permissions.type !== "disabled") summary.network = permissions.network;
  if (permissions.type === "managed") summary.fileSystem = permissions.file_system.type;
  return summary;
}

/** Without the reason of an outcome: it is text of the executor, which may contain secrets. */
function describeResult({ status, structured }: ToolCallResult): Partial<ResultEvent> {
  if (status === "lost") return { outcome: { kind: "lost" } };
  const parsed = safeParse(unifiedExecResultSchema, structured);
  if (!parsed.success) return {};
  const { outcome, exitCode, processId, range, omitted, sandboxDenied } = parsed.data;
  return {
    outcome: {
      kind: outcome.kind,
      ...(outcome.kind === "exited" ? { code: outcome.code } : {}),
      ...(outcome.kind === "signaled" ? { signal: short(outcome.signal), by: outcome.by } : {}),
    },
    ...defined({ exitCode, session: processId }),
    range: [range.from, range.to],
    ...(omitted.length === 0 ? {} : { omitted: omitted.slice(0, MAX_AUDIT_LIST).map(({ from, to }) => [from, to]) }),
    sandboxDenied,
  };
}
