import type { Command } from "commander";
import { addNotes } from "./help.js";
import { addConfigOptions, addExecutorOptions, rulesOption } from "./options.js";

/** `codex tools`. */
export function addTools(program: Command): void {
  const tools = program.command("tools").description("List and call the tools of an executor");
  addExecutorOptions(tools.command("list").description("List the tools"))
    .option("--json", "Print JSON", false)
    .action(async (options) => (await import("../commands/tools-list.js")).runToolsList(options));
  addExecutorOptions(
    tools.command("spec").description("Print the tools as they are sent to a model").argument("[name]", "One tool"),
  ).action(async (name, options) => (await import("../commands/tools-list.js")).runToolsSpec(name, options));
  const call = tools
    .command("call")
    .description("Call a tool with a model's arguments")
    .argument("<name>", "Tool")
    .argument("[json]", "Arguments as JSON, - for stdin", "{}");
  addExecutorOptions(call)
    .addOption(
      rulesOption(
        "File of rules, repeatable (default: those of system, user and trusted project); rules are saved to the user's",
      ),
    )
    .option("--json", "Print all of the result as JSON", false);
  addNotes(addConfigOptions(call), {
    text: [
      "A session that the call starts ends with this command, which closes its connection. To keep sessions, use an orchestrator of your own (see the examples of the library).",
    ],
    exitCodes: [
      ["0", "the tool succeeded, whatever the exit code of the command it ran"],
      ["1", "it did not"],
      ["2", "bad arguments"],
    ],
    examples: [`codex tools call exec_command '{"cmd":"git status"}'`],
  }).action(async (name, json, options) => (await import("../commands/tools.js")).runToolsCall(name, json, options));
}
