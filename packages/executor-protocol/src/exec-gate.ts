import * as z from "zod/mini";
import { keySchema } from "./scalars.js";

const words = z.readonly(z.array(z.string()));

/**
 * What a program outside of its command's sandbox may do. `network`: what the sandbox allows, and the network. `write`: the same, and
 * writing below these absolute paths. `unrestricted`: everything, and the programs that it starts are not judged.
 */
export const outsideProfileSchema = z.union([z.enum(["network", "unrestricted"]), z.object({ write: words })]);
/** What a program outside of its command's sandbox may do. */
export type OutsideProfile = z.infer<typeof outsideProfileSchema>;

/** A rule about programs that a command starts: it applies to every program that begins with its words. */
const gateRuleSchema = z.object({
  /** As a person reads the rule: pattern, file and line. Unique. */
  id: z.string(),
  /** Alternatives for each word. */
  pattern: z.readonly(z.array(words)),
  /** Applies only to a program without further words. */
  whole: z.optional(z.boolean()),
  /** Words are compared without regard to case and Unicode composition. */
  canonical: z.optional(z.boolean()),
  /** Applies only to a program that has this option: its letter, alone or in a cluster, or its name, which may be abbreviated. */
  option: z.optional(z.object({ letter: z.string(), name: z.string() })),
  /** Applies only to a program that no rule allows. */
  unlessAllowed: z.optional(z.boolean()),
  decision: z.enum(["allow", "ask", "refuse"]),
  /** Where an allowed program runs. */
  place: z.union([
    z.object({ kind: z.literal("inside") }),
    z.object({ kind: z.literal("outside"), profile: outsideProfileSchema }),
  ]),
  env: z.optional(words),
});

/** Rules that are held where the programs of a command start: capability `exec_gate`. At most 4,096, with 262,144 characters of words. */
export const execGateSchema = z.object({
  rules: z.readonly(z.array(gateRuleSchema)),
  hostExecutables: z.readonly(z.array(z.object({ name: z.string(), paths: words }))),
  /** Programs that were approved with the command, by all of their words. */
  approved: z.readonly(z.array(words)),
  /** Where its programs cannot be judged, the command is refused. Default false: it runs, and `notices` says so. */
  required: z.optional(z.boolean()),
  /**
   * Programs that a rule asks about wait for `program_answer`. Absent: they are refused. Capability `program_questions`.
   * `key` is repeated in each question: it names the command to the orchestrator. `most`: programs that would raise more questions are refused.
   * `timeoutMs`: without an answer until then, a program is refused.
   */
  questions: z.optional(
    z.object({ key: keySchema, most: z.int().check(z.nonnegative()), timeoutMs: z.int().check(z.positive()) }),
  ),
});
/** Rules that are held where the programs of a command start. */
export type ExecGate = z.infer<typeof execGateSchema>;

/** A program that was not simply started as it was called. */
export const programReportSchema = z.object({
  /** Its file, or the path or name by which it was called. */
  program: z.string(),
  /** Its words; cut, where they are long. */
  argv: words,
  /**
   * `refused`: it was not started. `killed`: it was, and ended before its first instruction. `inside`: it ran in the sandbox, although it was
   * allowed outside. `outside`: it ran outside of it.
   */
  decision: z.enum(["refused", "killed", "inside", "outside"]),
  /**
   * `rule`: a rule refuses it, or allows it outside. `approved`: somebody allowed it outside. `not_outside`: it could not be started there; see `detail`. `unasked`, `declined`, `unanswered`: a rule asks, and nobody could be asked, the answer was no, or there was none. `hidden`, `unresolved`, `unverified`: it could not be judged or compared. `changed`: it was not what was judged.
   */
  reason: z.enum([
    "rule",
    "approved",
    "unasked",
    "declined",
    "unanswered",
    "not_outside",
    "hidden",
    "unresolved",
    "unverified",
    "changed",
  ]),
  /** The id of the rule that decided. */
  rule: z.optional(z.string()),
  /** With `outside`, once it has ended: its exit code, 128 + the number for a death by signal. */
  exitCode: z.optional(z.int()),
  /** With `outside`: names of variables of its caller that it was started without. */
  droppedVariables: z.optional(words),
  /** With `not_outside`: why not, as the end of a sentence. */
  detail: z.optional(z.string()),
  /** How often it was tried in a row. */
  times: z.int(),
});
/** A program that was not simply started as it was called. */
export type ProgramReport = z.infer<typeof programReportSchema>;
