import { createAuditLog, createFileSink } from "@codex/audit";
import type { Settings } from "@codex/config";
import type { AuditOptions } from "@codex/orchestrator";
import { say } from "./notice.js";

/** Opens the configured audit log; undefined when there is none. Problems are reported on stderr. */
export function openAudit({
  enabled,
  path,
  required,
  includeArgv,
  sync,
  maxBytes,
}: Settings["audit"]): AuditOptions | undefined {
  if (!enabled && !required) return undefined;
  const log = createAuditLog({ sink: createFileSink(path, { sync, maxBytes }), onProblem: say });
  return { log, required, includeArgv };
}
