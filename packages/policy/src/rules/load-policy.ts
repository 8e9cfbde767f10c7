import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readPlainFile } from "@codex/plain-file";
import type { Source } from "@codex/starlark";
import { StarlarkError } from "@codex/starlark";
import { messageOf } from "@codex/values";
import { findAffectedPrograms } from "./affected-programs.js";
import { MAX_RULE_FILE_BYTES, MAX_RULE_FILES_PER_LAYER } from "./limits.js";
import { decodeRules, parseRuleFile } from "./parse-rule-file.js";
import { type BrokenRuleFile, createRulePolicy, type RuleFile, type RulePolicy } from "./policy.js";

/** Where rule files are, from the least to the most specific: system, user, trusted project. */
export interface RuleLayer {
  /** Contains the `*.rules` files. A directory that does not exist has none. */
  readonly directory: string;
}

/**
 * Reads every layer. Never fails: a file or directory that cannot be read or does not load is in `broken`, for the
 * user to see, and restricts what it may have meant to restrict. `before` are sources that were already read, and come first.
 */
export async function loadRulePolicy(
  layers: readonly RuleLayer[],
  before: readonly Source[] = [],
): Promise<RulePolicy> {
  const broken: BrokenRuleFile[] = [];
  const sources = [...before];
  for (const { directory } of layers) {
    for (const file of await listRuleFiles(directory, broken)) {
      const text = await readRuleFile(file, broken);
      if (text !== undefined) sources.push({ file, text });
    }
  }
  return parseRulePolicy(sources, broken);
}

/** Parses rule files in their order; those that do not load are in `broken`. Pure. */
export function parseRulePolicy(sources: readonly Source[], unreadable: readonly BrokenRuleFile[] = []): RulePolicy {
  const files: RuleFile[] = [];
  const broken = [...unreadable];
  for (const source of sources) {
    try {
      files.push(
        parseRuleFile(
          source,
          files.flatMap((file) => file.hostExecutables),
        ),
      );
    } catch (error) {
      if (!(error instanceof StarlarkError)) throw error;
      broken.push({ file: source.file, message: error.message, affectedPrograms: findAffectedPrograms(source.text) });
    }
  }
  return createRulePolicy(files, broken);
}

async function listRuleFiles(directory: string, broken: BrokenRuleFile[]): Promise<string[]> {
  try {
    const names = (await readdir(directory)).filter((name) => name.endsWith(".rules")).sort();
    if (names.length <= MAX_RULE_FILES_PER_LAYER) return names.map((name) => join(directory, name));
    const limit = `${names.length} rule files, the limit is ${MAX_RULE_FILES_PER_LAYER} files`;
    broken.push({
      file: directory,
      message: `${directory}: the directory has ${limit}.`,
      affectedPrograms: "everything",
    });
    return [];
  } catch (error) {
    if (!isMissing(error)) broken.push(createUnread(directory, error));
    return [];
  }
}

async function readRuleFile(file: string, broken: BrokenRuleFile[]): Promise<string | undefined> {
  try {
    return await readRuleText(file);
  } catch (error) {
    broken.push(createUnread(file, error));
    return undefined;
  }
}

/** Reads a rule file. @throws for one that is no regular file, too long or not UTF-8 */
export const readRuleText = async (file: string): Promise<string> =>
  decodeRules(await readPlainFile(file, { maxBytes: MAX_RULE_FILE_BYTES }));

function createUnread(file: string, error: unknown): BrokenRuleFile {
  const reason = messageOf(error);
  return { file, message: `${file}: cannot be read: ${reason}`, affectedPrograms: "everything" };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
