import type { Command } from "commander";
import { DependentOption } from "./check-options.js";
import { addNotes } from "./help.js";
import { append } from "./options.js";

/** `codex environment`. */
export function addEnvironments(program: Command): void {
  const environment = program
    .command("environment")
    .description("List, check and edit the environments, the named places where tools run");

  addNotes(
    environment
      .command("list")
      .description("List the environments, or the executors at a registry; connects none")
      .option("--registry <url>", "List the executors of this registry: labels, versions, load, since when")
      .addOption(new DependentOption("--token-file <path>", "--registry", "file with the bearer token"))
      .addOption(
        new DependentOption("--ca-file <path>", "--registry", "trust certificates of these issuers as well (PEM)"),
      )
      .option("--json", "Print JSON", false),
    {
      text: [
        "They are those of $CODEX_HOME/environments.toml, which Codex reads as well, and environments-ts.toml beside it; else of CODEX_EXEC_SERVER_URL.",
      ],
      exitCodes: [
        ["0", "they are listed"],
        ["1", "a file is invalid"],
      ],
    },
  ).action(async (options) => (await import("../commands/environment.js")).runEnvironmentList(options));

  environment
    .command("info")
    .description("Connect an environment and describe its host")
    .argument("<id>", "Environment")
    .option("--json", "Print JSON", false)
    .action(async (id, options) => (await import("../commands/environment.js")).runEnvironmentInfo(id, options));

  addNotes(
    environment
      .command("check")
      .description(
        "Connect an environment, or all of them: measure the round trip, or report what is wrong and how to fix it",
      )
      .argument("[id]", "Environment (default: all of them)")
      .option("--json", "Print JSON", false),
    {
      exitCodes: [
        ["0", "all that were checked can be used"],
        ["1", "one cannot, or a file is invalid"],
      ],
    },
  ).action(async (id, options) => (await import("../commands/environment.js")).runEnvironmentCheck(id, options));

  environment
    .command("trust")
    .description("Trust the key that the executor of an environment behind a registry has now, or the one given")
    .argument("<id>", "Environment")
    .argument("[fingerprint]", "SHA256:…, as the executor printed it")
    .action(async (id, given) => (await import("../commands/environment-edit.js")).runEnvironmentTrust(id, given));

  const add = environment
    .command("add")
    .description("Add an environment to the configuration")
    .argument("<id>", "Its name: letters, digits, - and _")
    .argument(
      "<target...>",
      "ws://, wss:// or ssh:// URL; or a program and its arguments, which speaks on its stdin and stdout",
    )
    .option("--token-file <path>", "URL: file with the bearer token")
    .option("--token-env <name>", "URL: variable with the bearer token")
    .option("--ca-file <path>", "wss://: trust certificates of these issuers as well (PEM)")
    .option("-C, --cwd <dir>", "Program: its directory; a relative one is below $CODEX_HOME")
    .option("-e, --env <name=value>", "Program: variable, repeatable", append, [])
    .option("--fallback <id>", "Environment to use where this one cannot be connected (default: none)")
    .option("--eager", "Programs of the library connect it before it is used")
    .option("--default", "Make it the default", false)
    .passThroughOptions();
  addNotes(add, {
    text: [
      "Options come before the name. What Codex does not know, such as ssh:// and --fallback, is written to environments-ts.toml.",
    ],
    examples: [
      "codex environment add build wss://build.example:7000",
      "codex environment add --default box ssh://me@box/srv/work",
      "codex environment add container -- docker exec -i box codex exec-server --listen stdio",
    ],
  }).action(async (id, target, options) =>
    (await import("../commands/environment-edit.js")).runEnvironmentAdd(id, target, options),
  );

  environment
    .command("remove")
    .description("Remove an environment from the configuration")
    .argument("<id>", "Environment")
    .action(async (id) => (await import("../commands/environment-edit.js")).runEnvironmentRemove(id));
}
