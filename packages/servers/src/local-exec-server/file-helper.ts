import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HelperCommand } from "@codex/host-files";
import { noInspectorOptions } from "@codex/native";

/** The program that performs file calls within a sandbox: a separate file of this command. */
export function getFileHelper(): HelperCommand {
  const file = join(dirname(realpathSync(process.argv[1]!)), "parts", "file-helper.cjs");
  return { argv: [process.execPath, ...noInspectorOptions(), file], reads: [file] };
}
