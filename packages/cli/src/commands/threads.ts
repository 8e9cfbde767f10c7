import { createThreadStore, ThreadStoreError } from "@codex/agent/node";
import { listThreads, readThreadReport, renderThreadReport, renderThreadRows } from "@codex/agent-terminal";
import { codexHome } from "@codex/config";
import { VERSION } from "@codex/servers";
import { describeUnknownThread } from "../agent/open-thread.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { print, printJson, say } from "../notice.js";

/** Prints the threads, newest first; by default those of this directory. */
export async function runThreadsList(options: { json: boolean; all: boolean; limit: number }): Promise<void> {
  const { json, all, limit } = options;
  const store = createThreadStore({ home: codexHome(), version: VERSION });
  const rows = await listThreads(store, { limit, cwd: all ? undefined : process.cwd() });
  if (json) return void printJson(rows);
  print(renderThreadRows(rows));
  if (rows.length === 0)
    say(all ? "there is no thread" : "there is no thread of this directory; --all lists those of others");
}

/** The error of a command that needs a thread and was given none; it lists the newest ones of this directory. */
export async function describeMissingThread(command: string): Promise<CommandError> {
  const store = createThreadStore({ home: codexHome(), version: VERSION });
  const rows = await listThreads(store, { limit: 5, cwd: process.cwd() });
  const known = rows.length === 0 ? "" : `; those of this directory:\n${renderThreadRows(rows).trimEnd()}`;
  return new CommandError(`${command} needs the id of a thread, or --last${known}`, EXIT.usage);
}

/** Prints the turns of a thread. @throws CommandError for one that is unknown */
export async function runThreadsShow(id: string, { json }: { json: boolean }): Promise<void> {
  const store = createThreadStore({ home: codexHome(), version: VERSION });
  try {
    const { meta, path } = await store.find(id);
    const report = await readThreadReport(store.readLines(meta.id));
    if (json) printJson({ ...meta, path, ...report });
    else print(renderThreadReport(meta, report));
  } catch (cause) {
    if (!(cause instanceof ThreadStoreError)) throw cause;
    throw describeUnknownThread(cause);
  }
}
