import type { AskedProgram } from "@codex/executor-client";
import type { ProgramAnswer, Sandbox } from "@codex/executor-protocol";
import { evictOldest } from "@codex/values";
import type { Approver } from "../approvals/approver.js";
import type { Auditor } from "../audit/audit-trail.js";
import type { Deciders } from "../decide/deciders.js";
import type { Refused } from "../decide/decision.js";
import type { RefusedCall } from "../result.js";
import { fail } from "../result.js";

/** A command whose programs may have to be asked about, and who is asked. */
export interface AskingCommand {
  readonly environment: string;
  readonly command: readonly string[];
  readonly cwd: string;
  /** In which it runs; null for none. */
  readonly sandbox: Sandbox | null;
  readonly client: string | undefined;
  /** Instead of that of the environment. */
  readonly approver: Approver | undefined;
}

interface Ports {
  readonly deciders: Deciders;
  readonly auditor: Auditor;
  /** Maximum number of commands; the one that was added first is forgotten, and its programs are refused. */
  readonly limit: number;
}

/** Decides about programs that commands start and that a rule asks about, for whom the command runs. */
export class AskingPrograms {
  readonly #ports: Ports;
  /** By the key of the command's questions. */
  readonly #commands = new Map<string, AskingCommand>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Call before the command is sent. */
  add(key: string, command: AskingCommand): void {
    this.#commands.set(key, command);
    evictOldest(this.#commands, this.#ports.limit);
  }

  /** A later call waits for the command: who made it is asked. */
  redirect(key: string, approver: Approver | undefined): void {
    const command = this.#commands.get(key);
    if (command !== undefined) this.#commands.set(key, { ...command, approver });
  }

  /** The command has ended. */
  remove(key: string): void {
    this.#commands.delete(key);
  }

  /** Never rejects. */
  async answer(question: AskedProgram, signal: AbortSignal): Promise<ProgramAnswer> {
    const asking = this.#commands.get(question.key);
    if (asking === undefined) return "unasked";
    const { environment, command, sandbox, client, approver } = asking;
    const { program, argv, isCut, rule, outside, cwd = asking.cwd } = question;
    const trail = this.#ports.auditor.begin("exec_command");
    trail.command(environment, { command: argv, cwd, tty: false, sandboxPermissions: "use_default" });
    const decider = this.#ports.deciders.asking(environment, { client, approver, trail });
    const deed = { environment, program, argv, isCut, cwd, rule, command, sandbox, outside };
    const decision = await decider.program(deed, signal);
    if (decision.kind === "ask") return "unasked";
    const refused = decision.kind === "refused" ? toResult(decision) : await trail.sending(undefined);
    if (refused === undefined) return outside === undefined ? "run" : "outside";
    trail.ended(refused);
    return decision.kind === "refused" ? toAnswer(decision) : "unasked";
  }
}

function toAnswer({ code, by }: Refused): ProgramAnswer {
  if (code === "cancelled") return "end";
  if (by === "timeout") return "unanswered";
  return code === "denied" && by !== "nobody" && by !== "failure" ? "declined" : "unasked";
}

const toResult = ({ reason }: Refused): RefusedCall => fail("denied", reason);
