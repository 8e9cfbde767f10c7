import { defined } from "@codex/values";
import { type Command, Option } from "commander";
import type { ExecOptions, ThreadChoice } from "../agent/agent-options.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { DependentOption } from "./check-options.js";
import { addNotes } from "./help.js";
import { addAgentOptions, parseCount, parseSeconds } from "./options.js";

/** `codex exec`. */
export function addAgent(program: Command): void {
  const exec = addExecOptions(
    program.command("exec").alias("e").description("Let a model work on a task: its commands run through an executor"),
  ).argument("[prompt]", "The task; - or none: stdin. What comes over stdin beside a prompt is sent with it");
  addNotes(exec, {
    text: [
      "The model, its provider and their keys are those of config.toml, as in Codex. Nobody is asked: what needs approval is refused to the model, unless --approvals ask.",
      "The last message goes to stdout, everything else to stderr; with --json stdout has one event a line.",
    ],
    exitCodes: [
      ["0", "the turn was completed, whatever its commands did"],
      ["1", "it failed, was interrupted, or could not begin"],
      ["2", "bad arguments"],
    ],
    examples: [
      'codex exec "Make the tests pass."',
      'git diff | codex exec "Review this change."',
      'codex exec --executor 127.0.0.1:7000 -C /srv/app "Why does it not start?"',
      'codex exec resume --last "And now the docs."',
    ],
  }).action(async (prompt: string | undefined, options: ExecOptions, command: Command) =>
    start(prompt, { kind: "new" }, withOuter(command, options)),
  );

  const resume = addExecOptions(exec.command("resume").description("Continue a thread"))
    .argument("[thread]", "Its id; with --last the prompt")
    .argument("[prompt]", "The next task; - or none: stdin")
    .option("--last", "The thread of this directory that was written last", false)
    .option("--all", "With --last: of any directory", false);
  resume.action(
    async (thread: string | undefined, prompt: string | undefined, options: ResumeOptions, command: Command) => {
      const merged = withOuter(command, options);
      if (!options.last && thread === undefined) {
        throw await (await import("../commands/threads.js")).describeMissingThread("exec resume");
      }
      if (options.last) return start(thread ?? prompt, { kind: "last", all: options.all }, merged);
      return start(prompt, { kind: "resume", id: thread ?? "" }, merged);
    },
  );

  addReview(exec);
  addReview(program);

  const fork = addExecOptions(
    exec.command("fork").description("Continue a copy of a thread; the thread itself is not changed"),
  )
    .argument("<thread>", "Its id")
    .argument("[prompt]", "The next task; - or none: stdin");
  fork.action(async (thread: string, prompt: string | undefined, options: ExecOptions, command: Command) =>
    start(prompt, { kind: "fork", id: thread }, withOuter(command, options)),
  );
}

/** `codex exec review`, and `codex review`, which is the same. */
function addReview(parent: Command): void {
  const review = addExecOptions(parent.command("review").description("Review changes of a repository"))
    .argument("[prompt]", "What to review, in your own words; - reads them from stdin")
    .option("--uncommitted", "Review staged, unstaged and untracked changes")
    .option("--base <branch>", "Review what a merge into this branch would change")
    .option("--commit <sha>", "Review the changes of this commit")
    .option("--title <title>", "With --commit: its title");
  addNotes(review, {
    text: ["The model answers with findings, each with its place. Nothing is changed unless it is told to."],
    examples: ["codex review --uncommitted", "codex exec review --base main --json"],
  }).action(async (prompt: string | undefined, options: ReviewOptions, command: Command) => {
    const target = chooseTarget(prompt, options);
    const { runExec } = await import("../commands/exec.js");
    await runExec(prompt, { kind: "new" }, withOuter(command, options), target);
  });
}

type ReviewOptions = ExecOptions & { uncommitted?: boolean; base?: string; commit?: string; title?: string };

function chooseTarget(prompt: string | undefined, { uncommitted, base, commit, title }: ReviewOptions) {
  const given = [prompt, uncommitted === true ? "" : undefined, base, commit].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw new CommandError("review needs one of --uncommitted, --base, --commit and a prompt", EXIT.usage);
  }
  if (title !== undefined && commit === undefined) throw new CommandError("--title needs --commit", EXIT.usage);
  if (base !== undefined) return { kind: "base", branch: base } as const;
  if (commit !== undefined) return { kind: "commit", commit, ...defined({ title }) } as const;
  return { kind: prompt === undefined ? "uncommitted" : "custom" } as const;
}

type ResumeOptions = ExecOptions & { last: boolean; all: boolean };

const start = async (prompt: string | undefined, choice: ThreadChoice, options: ExecOptions): Promise<void> =>
  (await import("../commands/exec.js")).runExec(prompt, choice, options);

/** Options are accepted before and after the name of the command; those after it take precedence. */
export function withOuter<T extends object>(command: Command, options: T): T {
  const { parent } = command;
  const outer: object = parent === null ? {} : withOuter(parent, parent.opts());
  const own = Object.entries(options).filter(([name]) => command.getOptionValueSource(name) !== "default");
  return { ...options, ...outer, ...Object.fromEntries(own) };
}

const addExecOptions = (command: Command): Command =>
  addAgentOptions(command)
    .option("--json", "Print events as lines of JSON")
    .addOption(new Option("--experimental-json").hideHelp())
    .addOption(new DependentOption("--json-deltas", "--json", "text and output as they come", ["--experimental-json"]))
    .option("-o, --output-last-message <file>", "Write the last message to this file")
    .option("--output-schema <file>", "JSON schema that the last message has to fit")
    .addOption(new Option("--color <when>", "Colours on stderr").choices(["always", "never", "auto"]))
    .addOption(new Option("--approvals <how>", "Who decides what needs approval").choices(["never", "ask"]))
    .option("--max-turns <number>", "Fail after this many responses of the model", parseCount)
    .option("--timeout <seconds>", "Fail after this time", parseSeconds)
    .addOption(new DependentOption("--once", "--view", "the page ends with the run, also while somebody looks at it"))
    .option("--no-stdin", "Do not read stdin beside a prompt")
    .option("--skip-git-repo-check", "Work outside of a git repository")
    .option(
      "--approve-for-me",
      "Let the model decide about approvals, each asked for alone, in the sandbox workspace-write",
    )
    .option("--trust", "Mark the project as trusted in config.toml, for this and later runs")
    .option("--ignore-user-config", "Do not read $CODEX_HOME/config.toml; keys are still taken from there")
    .option("--ignore-rules", "Do not load the rules of the user and of the project")
    // Of the SDK of Codex, without effect here: the source of a thread is not kept, and there are no such programs.
    .addOption(new Option("--thread-source <source>").hideHelp())
    .addOption(new Option("--cyber-access-program <program>").hideHelp());
