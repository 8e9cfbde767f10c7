import type { Step } from "@codex/apply-patch";
import { type AgentFiles, pathOfFileUrl } from "../agent-files.js";
import { expecting } from "./file-states.js";

/** Writes a moved file with its permissions; the source is not removed. */
export async function writeMoved(
  files: AgentFiles,
  { path, after, before, movedFrom }: Extract<Step, { kind: "write" }> & { movedFrom: string },
  newId: () => string,
): Promise<void> {
  const { mode } = await files.getMetadata(movedFrom, { extended: true });
  const whole = { atomic: true, ...expecting(before) };
  if (mode !== undefined) return files.writeFile(path, after, { mode, ...whole });
  if (before.kind !== "missing") return files.writeFile(path, after, whole);
  // If the host does not report permissions, a copy preserves them: write the content to a copy next to the target.
  const source = pathOfFileUrl(await files.canonicalize(movedFrom));
  const copy = `${path.slice(0, path.lastIndexOf("/"))}/.codex-patch-${newId()}`;
  try {
    await files.copy(source, copy, { recursive: false });
    await files.writeFile(copy, after);
    await files.copy(copy, path, { recursive: false });
  } finally {
    await files.remove(copy, { recursive: false, force: true }).catch(() => {});
  }
}
