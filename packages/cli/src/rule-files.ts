import { join } from "node:path";
import { codexHome, type LoadedConfig, ruleDirectories } from "@codex/config";
import { loadRulePolicy, parseRulePolicy, type RulePolicy, readRuleText } from "@codex/policy";
import { messageOf } from "@codex/values";
import { CommandError } from "./exit-codes.js";
import { say } from "./notice.js";

/** The file that saved rules are appended to. */
export const savedRulesFile = (): string => join(codexHome(), "rules", "default.rules");

/**
 * The rules of these files in their order; without any, those of the system, the user and the trusted project, with `systemOnly` only those of the system. What the
 * administrator requires is always added. Files that do not load are reported on stderr; commands that they may restrict need approval.
 * @throws CommandError for a file that cannot be read
 */
export async function loadRules(
  files: readonly string[],
  config: LoadedConfig,
  options: { systemOnly?: boolean } = {},
): Promise<RulePolicy> {
  const required = config.requirements?.rules === undefined ? [] : [config.requirements.rules];
  const layers = ruleDirectories(config, options).map((directory) => ({ directory }));
  const policy = files.length === 0 ? await loadRulePolicy(layers, required) : await readRules(files, required);
  for (const { message } of policy.broken) say(`rules are broken: ${message}`);
  return policy;
}

/** @throws CommandError for a file that cannot be read; one that does not load is in `broken`. */
export async function readRules(files: readonly string[], before: readonly RuleText[] = []): Promise<RulePolicy> {
  const read = await Promise.all(files.map(async (file) => ({ file, text: await readGiven(file) })));
  return parseRulePolicy([...before, ...read]);
}

interface RuleText {
  file: string;
  text: string;
}

async function readGiven(file: string): Promise<string> {
  try {
    return await readRuleText(file);
  } catch (error) {
    throw new CommandError(describePolicyError("read", file, messageOf(error)), 1, {
      cause: error,
    });
  }
}

/** The wording of Codex, for programs that parse it. */
export const describePolicyError = (what: "read" | "parse", file: string, reason: string): string =>
  `failed to ${what} policy at ${file}\n\nCaused by:\n    ${reason.replaceAll("\n", "\n    ")}`;
