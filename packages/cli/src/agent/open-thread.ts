import type { Agent, Thread } from "@codex/agent";
import { createThreadStore, type OpenedThread, type ThreadFile, ThreadStoreError } from "@codex/agent/node";
import { codexHome } from "@codex/config";
import { FileLockError } from "@codex/file-lock";
import { VERSION } from "@codex/servers";
import { CommandError, EXIT } from "../exit-codes.js";
import type { ThreadChoice } from "./agent-options.js";

/** A thread's file and its content. */
export interface ChosenThread {
  readonly id: string | undefined;
  readonly file: ThreadFile | undefined;
  /** Undefined for a new thread. */
  readonly opened: OpenedThread | undefined;
}

/**
 * Opens the requested thread; other processes cannot write it until its file is closed.
 * @throws CommandError when it is unknown, or open in another process
 */
export async function chooseThread(choice: ThreadChoice, cwd: string): Promise<ChosenThread> {
  if (choice.kind === "new") return { id: undefined, file: undefined, opened: undefined };
  const store = createThreadStore({ home: codexHome(), version: VERSION });
  try {
    const id = choice.kind === "last" ? (await store.findLast(choice.all ? undefined : cwd)).meta.id : choice.id;
    const opened = await (choice.kind === "fork" ? store.fork(id) : store.open(id));
    return { id: opened.saved.id, file: opened.file, opened };
  } catch (cause) {
    if (cause instanceof ThreadStoreError) throw describeUnknownThread(cause);
    if (cause instanceof FileLockError) {
      throw new CommandError(`the thread is being written by another process: ${cause.message}`, 1, { cause });
    }
    throw cause;
  }
}

/** The error for a thread that is not found, with a hint how to list threads. */
export function describeUnknownThread(cause: ThreadStoreError): CommandError {
  const hint = cause.code === "bad_thread" ? "" : "; codex threads list --all lists the threads of all directories";
  return new CommandError(`${cause.message}${hint}`, EXIT.failure, { cause });
}

/** Metadata of a new thread. */
export interface NewThreadFacts {
  readonly cwd: string;
  readonly modelProvider: string;
  readonly environment: string;
  /** The thread is not saved. */
  readonly ephemeral: boolean;
}

/** Starts or resumes the thread of an agent, with its file. */
export async function startThread(
  agent: Agent,
  { file, opened }: ChosenThread,
  { ephemeral, ...facts }: NewThreadFacts,
): Promise<{ thread: Thread; close(): Promise<void> }> {
  if (opened !== undefined && file !== undefined) {
    return { thread: await agent.resumeThread(opened.saved, { recorder: file }), close: () => file.close() };
  }
  if (ephemeral) return { thread: agent.startThread(), close: () => Promise.resolve() };
  const created = await createThreadStore({ home: codexHome(), version: VERSION }).create(facts);
  return {
    thread: agent.startThread({ id: created.id, recorder: created.file }),
    close: () => created.file.close(),
  };
}
