import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { type FileLockOptions, withFileLock } from "@codex/file-lock";
import { StarlarkError } from "@codex/starlark";
import { messageOf } from "@codex/values";
import { type AllowHostRule, type AllowRule, renderAllowRule } from "./allow-rule.js";
import { readRuleText } from "./load-policy.js";
import { parseRuleFile } from "./parse-rule-file.js";

/** A rule that could not be saved; the file is unchanged. */
export class SaveRuleError extends Error {
  readonly code = "rule_not_saved";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SaveRuleError";
  }
}

/**
 * Appends the rule to `file`, which is created if it is missing. Several processes may do so concurrently: each line is
 * appended in one write, under a lock next to the file. Resolves to false when the file has the line already.
 */
export async function saveAllowRule(
  file: string,
  rule: AllowRule | AllowHostRule,
  options: FileLockOptions = {},
): Promise<boolean> {
  const words = "host" in rule ? [rule.host] : rule.words;
  if (words.length === 0 || !words.every(isValidText)) {
    throw new SaveRuleError(
      `a rule for ${JSON.stringify(words)} cannot be saved: it needs one token or more, all valid text`,
    );
  }
  await mkdir(dirname(file), { recursive: true });
  return await withFileLock(`${file}.lock`, options, () => appendLine(file, renderAllowRule(rule)));
}

/** Whether the token has no lone surrogate, which UTF-8 cannot encode. */
function isValidText(token: string): boolean {
  return Buffer.from(token).toString() === token;
}

async function appendLine(file: string, line: string): Promise<boolean> {
  const text = await readText(file);
  if (text.split(/\r?\n/).includes(line)) return false;
  const addition = text === "" || text.endsWith("\n") ? `${line}\n` : `\n${line}\n`;
  checkLoads(file, text + addition);
  const handle = await open(file, "a");
  try {
    const { size } = await handle.stat();
    try {
      await handle.writeFile(addition);
      await handle.sync();
    } catch (cause) {
      await handle.truncate(size); // a part of a rule would keep the whole file from loading
      const why = messageOf(cause);
      throw new SaveRuleError(`${file}: the rule cannot be written: ${why}`, { cause });
    }
  } finally {
    await handle.close();
  }
  return true;
}

/** A rule at the end of a broken file would have no effect. */
function checkLoads(file: string, text: string): void {
  try {
    parseRuleFile({ file, text });
  } catch (error) {
    if (!(error instanceof StarlarkError)) throw error;
    throw new SaveRuleError(`the rule is not saved because the file does not load: ${error.message}`, { cause: error });
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readRuleText(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
