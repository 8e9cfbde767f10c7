import type { OutsideProfile, Sandbox } from "@codex/executor-protocol";
import { widenSandbox } from "@codex/permissions";
import { describeOutside } from "@codex/policy";
import type { Evaluation } from "./decision.js";
import { ALLOWED_SINCE, askOwn, createOwnRequest } from "./own-request.js";
import type { DecidePorts, Ruling } from "./ports.js";

/** A program that an approved command starts, and that a rule asks about: it waits where it starts. */
export interface ProgramDeed {
  /** Name of the environment as shown to the approver. */
  readonly environment: string;
  /** Its file, or the path by which it was called. */
  readonly program: string;
  readonly argv: readonly string[];
  /** Set where `argv` is not all of its words. */
  readonly isCut?: boolean | undefined;
  /** The directory in which it would run. */
  readonly cwd: string;
  /** The rule that asks, as a person reads it. */
  readonly rule: string;
  /** The command that starts it, and the sandbox in which both run; null for none. */
  readonly command: readonly string[];
  readonly sandbox: Sandbox | null;
  /** Where the program runs instead, once it may; absent: in that sandbox. */
  readonly outside?: OutsideProfile | undefined;
}

/** The rule asks whatever else the policy says; a decision for the session covers this file with these words in this directory. */
export function evaluateProgram(
  { environment, program, argv, isCut = false, cwd, rule, command, sandbox, outside }: ProgramDeed,
  { rules }: Pick<Ruling, "rules">,
  { newId }: Pick<DecidePorts, "newId">,
): Evaluation<undefined> {
  const asked = { program, argv, rule };
  if (!isCut && rules.allowsProgram(asked, cwd)) return ALLOWED_SINCE;
  const proposed = isCut ? null : rules.proposeForProgram(asked);
  const cut = isCut ? "; only the beginning of its arguments is shown, and an answer is for this once" : "";
  const started = `the program ${program}, which the running command starts: ${command.join(" ")}`;
  const where = outside === undefined ? "" : `; it would run ${describeOutside(outside)}`;
  const reason = `a rule asks before ${started}${where}${cut}; rule ${rule}`;
  const words = argv.length === 0 ? [program] : argv;
  const request = createOwnRequest({
    id: newId(),
    toolName: "exec_command",
    environment,
    command: words,
    plainCommands: [proposed ?? words],
    cwd,
    reason,
    cause: { kind: "rule", rule },
    sandboxPermissions: outside === "unrestricted" ? "require_escalated" : "use_default",
    sandbox: sandbox !== null && outside !== undefined ? widenSandbox(sandbox, outside) : sandbox,
    ...(rules.canSave && proposed !== null ? { proposedAmendment: proposed } : {}),
  });
  // What is not shown must not be remembered either.
  return askOwn(
    request,
    isCut ? [] : [JSON.stringify(["program", environment, program, argv, cwd, outside ?? "inside"])],
  );
}
