import { visible } from "@codex/agent-terminal/text";
import type { ConfigFlags } from "@codex/config";
import { listRemoved } from "@codex/exec-backend";
import type { EnvPolicy } from "@codex/executor-protocol";
import { print, printJson } from "../notice.js";
import { openConfig } from "../open-config.js";

/** Prints the variables withheld from commands. */
export async function runEnv(options: ConfigFlags & { json: boolean }): Promise<void> {
  const { settings } = await openConfig(options);
  const removed = listRemoved({ ...NO_POLICY, ...settings.defaults.envPolicy }, process.env);
  options.json ? printJson({ removed }) : print(render(removed));
}

const NO_POLICY: EnvPolicy = { inherit: "all", ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] };

function render(removed: readonly { name: string; by: string }[]): string {
  if (removed.length === 0) return "nothing is removed\n";
  const width = Math.max(...removed.map(({ name }) => name.length));
  return `${removed.map(({ name, by }) => visible(`${name.padEnd(width)}  ${by}`)).join("\n")}\n`;
}
