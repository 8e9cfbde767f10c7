import { Argument, type Command } from "commander";
import { addNotes } from "./help.js";

/** `codex doctor` and `codex completion`. @param createProgram makes the tree of commands that is completed */
export function addHostCommands(program: Command, createProgram: () => Command): void {
  const doctor = program
    .command("doctor")
    .description("Check what commands need of this host, and say how to fix what is wrong")
    .option("--service <file>", "Check an installed service instead: a unit file of systemd")
    .option("--json", "Print JSON", false);
  addNotes(doctor, {
    exitCodes: [
      ["0", "there is no problem; there may be warnings"],
      ["1", "there is a problem"],
    ],
  }).action(async (options) => (await import("../commands/doctor.js")).runDoctor(options));

  const completion = program
    .command("completion")
    .description("Print a completion script")
    .addArgument(new Argument("<shell>", "Shell").choices(["bash", "zsh", "fish"]));
  addNotes(completion, {
    examples: ['eval "$(codex completion bash)"', 'eval "$(codex completion zsh)"', "codex completion fish | source"],
  }).action(async (shell) => (await import("../commands/completion.js")).runCompletion(shell, createProgram()));
}
