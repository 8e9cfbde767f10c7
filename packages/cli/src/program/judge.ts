import type { Command } from "commander";
import { addNotes } from "./help.js";
import { addConfigOptions, rulesOption } from "./options.js";

/** `codex execpolicy`, `config`, `env` and `audit`. */
export function addJudging(program: Command): void {
  addExecPolicy(program);

  const show = program
    .command("config")
    .description("Show the configuration")
    .command("show")
    .description("Print every setting, its value, and where it was set")
    .option("--json", "Print JSON", false);
  addNotes(addConfigOptions(show), {
    text: [
      "In this order, each over the ones before: defaults, /etc/codex/config.toml, $CODEX_HOME/config.toml, --profile, .codex/config.toml of a trusted project, flags; all within /etc/codex/requirements.toml. See docs/configuration.md.",
    ],
  }).action(async (options) => (await import("../commands/config.js")).runConfigShow(options));

  const environment = program
    .command("env")
    .description("List the variables of this host that commands do not get, by name, and why")
    .option("--json", "Print JSON", false);
  addNotes(addConfigOptions(environment), {
    text: ["Run it where the executor runs, with the executor's environment. Values are never printed."],
  }).action(async (options) => (await import("../commands/env.js")).runEnv(options));

  addAudit(program);
  addHooks(program);
}

function addHooks(program: Command): void {
  const hooks = addConfigOptions(
    program
      .command("hooks")
      .description("List the hooks of the configuration, and whether they run")
      .option("--json", "Print JSON", false),
  );
  addNotes(hooks, {
    text: [
      "Hooks run before and after tool calls, and when sessions and turns begin and end, as in Codex. One that is not the administrator's runs once it is trusted, until it is changed. See docs/hooks.md.",
    ],
    examples: ["codex hooks", "codex hooks trust --all"],
  }).action(async (options) => (await import("../commands/hooks.js")).runHooksList(options));
  addConfigOptions(
    hooks
      .command("trust")
      .description("Trust hooks as they are now")
      .argument("[key...]", "Keys that `codex hooks` prints")
      .option("--all", "All that are not trusted", false),
  ).action(async (keys: string[], options) => (await import("../commands/hooks.js")).runHooksTrust(keys, options));
}

function addExecPolicy(program: Command): void {
  const execPolicy = program
    .command("execpolicy")
    .description("Check commands against rules and policy")
    .enablePositionalOptions();
  const check = execPolicy
    .command("check")
    .description("Print the rules that match a command, and their decision, as JSON")
    .argument("<command...>", "The words of one command")
    .addOption(rulesOption("File of rules, required and repeatable").makeOptionMandatory())
    .option("--pretty", "Print it on several lines", false)
    .option("--resolve-host-executables", "A path to a program also falls under the rules for its name", false)
    .passThroughOptions();
  addNotes(check, {
    exitCodes: [
      ["0", "whatever the decision"],
      ["1", "a file cannot be read or does not load"],
      ["2", "bad arguments, such as --rules missing"],
    ],
    examples: ["codex execpolicy check --rules my.rules git push"],
  }).action(async (words, options) => (await import("../commands/execpolicy.js")).runExecPolicyCheck(words, options));
  const explain = execPolicy
    .command("explain")
    .description(
      "Explain what policy decides about a command: how it splits, which rules match, whether it needs approval, and why",
    )
    .argument("<command...>", "One word is a script for bash -lc; several are the words of one command")
    .addOption(rulesOption("File of rules, repeatable (default: those of system, user and trusted project)"))
    .option("--json", "Print JSON", false)
    .passThroughOptions();
  addNotes(addConfigOptions(explain), {
    text: ["Options come before the command; -- may separate them."],
    examples: ["codex execpolicy explain rm -rf build", "codex execpolicy explain 'cd src && git push'"],
  }).action(async (words, options) => (await import("../commands/execpolicy.js")).runExecPolicyExplain(words, options));
}

function addAudit(program: Command): void {
  const audit = program.command("audit").description("Verify and print the audit log");
  const verify = audit
    .command("verify")
    .description("Check that no record was changed, removed, added or moved")
    .argument("[file]", "The log (default: audit.path of the configuration)")
    .option("--expect <record>", "NUMBER:SHA-256 of a record that must exist, as an earlier check printed it")
    .option("--json", "Print JSON", false);
  addNotes(addConfigOptions(verify), {
    exitCodes: [
      ["0", "the chain is intact"],
      ["1", "it is broken: the first broken record is printed, with the reason"],
    ],
  }).action(async (file, options) => (await import("../commands/audit.js")).runAuditVerify(file, options));
  const show = audit
    .command("show")
    .description("Print the records, the oldest first")
    .argument("[file]", "The log (default: audit.path of the configuration)")
    .option("--json", "Print the records as they are", false);
  addConfigOptions(show).action(async (file, options) =>
    (await import("../commands/audit.js")).runAuditShow(file, options),
  );
}
