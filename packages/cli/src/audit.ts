import { createAuditLog, createFileSink } from "@codex/audit";
import type { AuditOptions } from "@codex/orchestrator";
import type { Settings } from "./config/settings.js";

/** The audit log that was configured; undefined for none. What goes wrong with it is said on stderr. */
export function openAudit({
  enabled,
  path,
  required,
  includeArgv,
  sync,
  maxBytes,
}: Settings["audit"]): AuditOptions | undefined {
  if (!enabled && !required) return undefined;
  const onProblem = (message: string) => void process.stderr.write(`codex: ${message}\n`);
  const log = createAuditLog({ sink: createFileSink(path, { sync, maxBytes }), onProblem });
  return { log, required, includeArgv };
}
