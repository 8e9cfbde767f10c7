import type { ListedThread, ThreadStore } from "@codex/agent/node";
import { visibleText } from "@codex/policy/display";
import { readFirstPrompt } from "./first-prompt.js";
import { firstLine } from "./render-report.js";

/** A thread in a list. */
export interface ThreadRow {
  readonly id: string;
  readonly cwd: string;
  /** ISO 8601. */
  readonly changedAt: string;
  readonly path: string;
  readonly originator: string;
  readonly provider: string;
  readonly environment: string | undefined;
  /** First prompt; empty when unknown. */
  readonly prompt: string;
}

/** Lists threads, most recent first. @param cwd only those of this directory; undefined: all */
export async function listThreads(
  store: Pick<ThreadStore, "list" | "readLines">,
  { cwd, limit }: { cwd?: string | undefined; limit: number },
): Promise<ThreadRow[]> {
  const rows: ThreadRow[] = [];
  for await (const thread of store.list()) {
    if (cwd !== undefined && thread.meta.cwd !== cwd) continue;
    // A file that cannot be read to its prompt is listed anyway, and does not hide the others.
    const prompt = await readFirstPrompt(store.readLines(thread.meta.id)).catch(() => "");
    rows.push(toRow(thread, prompt));
    if (rows.length >= limit) break;
  }
  return rows;
}

function toRow({ meta, path, changedAt }: ListedThread, prompt: string): ThreadRow {
  return {
    id: meta.id,
    cwd: meta.cwd,
    changedAt: new Date(changedAt).toISOString(),
    path,
    originator: meta.originator,
    provider: meta.model_provider,
    environment: meta.environment,
    prompt,
  };
}

/** Renders a list; `numbered`: with numbers for selection. */
export function renderThreadRows(rows: readonly ThreadRow[], { numbered = false } = {}): string {
  const lines = rows.map(({ id, changedAt, environment, cwd, prompt }, index) => {
    const place = environment === undefined || environment === "local" ? cwd : `${environment}:${cwd}`;
    const number = numbered ? `${String(index + 1).padStart(String(rows.length).length)}  ` : "";
    const line = `${number}${id}  ${changedAt.slice(0, 16).replace("T", " ")}  ${place}  ${firstLine(prompt)}`;
    return visibleText(line.trimEnd()).replaceAll("\n", "\\n");
  });
  return lines.map((line) => `${line}\n`).join("");
}
