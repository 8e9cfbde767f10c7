import type { AskedHost, AskedProgram } from "@codex/executor-client";
import type { HostAnswer, ProgramAnswer, Sandbox } from "@codex/executor-protocol";
import { evictOldest } from "@codex/values";
import type { Approver } from "../approvals/approver.js";
import type { Auditor } from "../audit/audit-trail.js";
import type { Decider } from "../decide/decider.js";
import type { Deciders } from "../decide/deciders.js";
import type { Decision, Refused } from "../decide/decision.js";
import type { HookCaller } from "../hooks/hook-caller.js";
import type { RefusedCall } from "../result.js";
import { fail } from "../result.js";

/** A command whose programs or hosts may have to be asked about, and who is asked. */
export interface AskingCommand {
  readonly environment: string;
  readonly command: readonly string[];
  readonly cwd: string;
  /** In which it runs; null for none. */
  readonly sandbox: Sandbox | null;
  readonly client: string | undefined;
  /** Instead of that of the environment. */
  readonly approver: Approver | undefined;
  /** For hooks. */
  readonly caller: HookCaller | undefined;
}

interface Ports {
  readonly deciders: Deciders;
  readonly auditor: Auditor;
  /** Maximum number of commands; the one that was added first is forgotten, and what it asks for is refused. */
  readonly limit: number;
}

/** Decides about programs that running commands start and hosts that they want to reach, for whom the command runs. */
export class AskingCommands {
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
  async answerProgram(question: AskedProgram, signal: AbortSignal): Promise<ProgramAnswer> {
    const { program, argv, isCut, rule, outside } = question;
    return this.#answer(question.key, question.cwd, argv, {
      decide: (decider, { environment, command, sandbox, cwd }) =>
        decider.program({ environment, program, argv, isCut, cwd, rule, command, sandbox, outside }, signal),
      toAnswer: () => (outside === undefined ? "run" : "outside"),
    });
  }

  /** Never rejects. */
  async answerHost({ key, host, port, protocol }: AskedHost, signal: AbortSignal): Promise<HostAnswer> {
    return this.#answer(key, undefined, undefined, {
      decide: (decider, { environment, command, sandbox, cwd }) =>
        decider.host({ environment, host, port, protocol, command, cwd, sandbox }, signal),
      toAnswer: () => "allow",
    });
  }

  async #answer<Answer extends string>(
    key: string,
    cwd: string | undefined,
    argv: readonly string[] | undefined,
    { decide, toAnswer }: Asking<Answer>,
  ): Promise<Answer | RefusedAnswer> {
    const asking = this.#commands.get(key);
    if (asking === undefined) return "unasked";
    const { environment, client, approver, caller } = asking;
    const command = { ...asking, cwd: cwd ?? asking.cwd };
    const trail = this.#ports.auditor.begin("exec_command");
    const recorded = { command: argv ?? asking.command, cwd: command.cwd, tty: false };
    trail.command(environment, { ...recorded, sandboxPermissions: "use_default" });
    const decider = this.#ports.deciders.asking(environment, { client, approver, trail, caller });
    const decision = await decide(decider, command);
    if (decision.kind === "ask") return "unasked";
    const refused = decision.kind === "refused" ? toResult(decision) : await trail.sending(undefined);
    if (refused === undefined) return toAnswer();
    trail.ended(refused);
    return decision.kind === "refused" ? toRefused(decision) : "unasked";
  }
}

/** How one kind of question is decided and answered. */
interface Asking<Answer> {
  decide(decider: Decider, command: AskingCommand): Promise<Decision<undefined>>;
  toAnswer(): Answer;
}

type RefusedAnswer = Extract<ProgramAnswer, HostAnswer>;

function toRefused({ code, by }: Refused): RefusedAnswer {
  if (code === "cancelled") return "end";
  if (by === "timeout") return "unanswered";
  return code === "denied" && by !== "nobody" && by !== "failure" ? "declined" : "unasked";
}

const toResult = ({ reason }: Refused): RefusedCall => fail("denied", reason);
