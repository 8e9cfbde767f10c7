import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "@codex/values";
import type { ThreadEntry } from "../history/thread-entry.js";
import { createUuid7 } from "../ids.js";
import { DEFAULT_THREAD_LIMITS, MAX_NAMED_THREADS, type ThreadLimits } from "../limits.js";
import type { SavedThread } from "../thread.js";
import { readLines, readMetaOf, readRollout } from "./read-rollout.js";
import { parseEntry, parseLine, type ThreadLine, type ThreadMeta } from "./rollout-line.js";
import { openThreadFile, type ThreadFile } from "./thread-file.js";

/** A thread is unknown or unreadable. */
export class ThreadStoreError extends Error {
  readonly code: "unknown_thread" | "ambiguous_thread" | "no_thread" | "bad_thread";

  constructor(code: ThreadStoreError["code"], message: string) {
    super(message);
    this.name = "ThreadStoreError";
    this.code = code;
  }
}

/** Options of {@link createThreadStore}. */
export interface ThreadStoreOptions {
  /** `$CODEX_HOME`; threads are stored in `sessions`. */
  readonly home: string;
  /** Version of this program. */
  readonly version: string;
  readonly originator?: string;
  readonly source?: string;
  readonly limits?: Partial<ThreadLimits>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Properties of a new thread. */
export interface NewThread {
  readonly cwd: string;
  readonly modelProvider: string;
  readonly environment?: string;
  readonly id?: string;
}

/** A thread that can be continued. Close `file` after the last turn. */
export interface OpenedThread {
  readonly saved: SavedThread;
  readonly meta: ThreadMeta;
  readonly file: ThreadFile;
}

/** An entry of a list of threads. */
export interface ListedThread {
  readonly meta: ThreadMeta;
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
}

/** Stores threads in a home directory, in files that Codex can read. An id may be abbreviated to its first 6 or more characters if they are unique. */
export interface ThreadStore {
  /** Creates the file of a new thread. */
  create(thread: NewThread): Promise<{ id: string; file: ThreadFile }>;
  /** @throws ThreadStoreError for an unknown id; FileLockError while another process has it open */
  open(id: string): Promise<OpenedThread>;
  /** Copies a thread under a new id. */
  fork(id: string): Promise<OpenedThread>;
  /** The most recently written thread, of this directory or of all. @throws ThreadStoreError when there is none */
  findLast(cwd: string | undefined): Promise<ListedThread>;
  /** @throws ThreadStoreError for an unknown id */
  find(id: string): Promise<ListedThread>;
  /** Reads the entries of a thread in order, even while it is open for writing. */
  readEntries(id: string): AsyncIterable<{ timestamp: string; entry: ThreadEntry }>;
  /** Reads the lines of a thread's file, including those only Codex writes; invalid lines are skipped. */
  readLines(id: string): AsyncIterable<ThreadLine>;
  /** Newest first. */
  list(): AsyncIterable<ListedThread>;
}

/** Creates the store; does no I/O until used. */
export function createThreadStore(options: ThreadStoreOptions): ThreadStore {
  const { home, version, originator = "codex-ts", source = "exec", now = Date.now } = options;
  const limits = { ...DEFAULT_THREAD_LIMITS, ...options.limits };
  const sessions = join(home, "sessions");

  const create = async (thread: NewThread & { forkedFrom?: string }) => {
    const at = now();
    const { id = createUuid7(at, crypto.getRandomValues(new Uint8Array(10))), cwd, environment, forkedFrom } = thread;
    const meta: ThreadMeta = {
      id,
      timestamp: new Date(at).toISOString(),
      cwd,
      originator,
      cli_version: version,
      source,
      model_provider: thread.modelProvider,
      ...defined({ forked_from_id: forkedFrom, environment }),
    };
    const path = pathOf(sessions, id, new Date(at));
    const file = await openThreadFile({ path, meta, now, limits });
    return { id, meta, file };
  };

  const find = async (id: string): Promise<string> => {
    const wanted = id.toLowerCase();
    const paths: string[] = [];
    if (ID_PREFIX.test(wanted)) {
      for await (const path of listFiles(sessions)) {
        const found = idOf(path);
        if (found === wanted) return path;
        if (found?.startsWith(wanted)) paths.push(path);
      }
    }
    const [path, ...others] = paths;
    if (path === undefined) {
      throw new ThreadStoreError("unknown_thread", `no thread ${JSON.stringify(id)} below ${sessions}`);
    }
    if (others.length === 0) return path;
    const some = paths.slice(0, MAX_NAMED_THREADS).map(idOf).join(", ");
    const rest = paths.length > MAX_NAMED_THREADS ? `, and ${paths.length - MAX_NAMED_THREADS} more` : "";
    throw new ThreadStoreError(
      "ambiguous_thread",
      `${paths.length} threads begin with ${JSON.stringify(id)}: ${some}${rest}`,
    );
  };

  const read = async (path: string) => {
    const { meta, items, usage, lastTokens, functionsOnly, startedCalls, checkpoints, hasGap } = await readRollout(
      path,
      limits,
    );
    if (!isMetaOf(path, meta)) throw createBadThread(path);
    const saved: SavedThread = {
      id: meta.id,
      items,
      lastTokens,
      functionsOnly,
      checkpoints,
      ...defined({ usage }),
      // After a gap it is unknown whether a call was made.
      ...(startedCalls === undefined || hasGap ? {} : { startedCalls }),
    };
    return { saved, meta };
  };

  async function* list(): AsyncGenerator<ListedThread, void, void> {
    const found: { path: string; changedAt: number }[] = [];
    for await (const path of listFiles(sessions)) {
      const changedAt = (await stat(path).catch(() => undefined))?.mtimeMs;
      if (changedAt !== undefined) found.push({ path, changedAt });
      if (found.length >= limits.listedThreads) break;
    }
    for (const { path, changedAt } of found.toSorted((one, other) => other.changedAt - one.changedAt)) {
      const meta = await readMetaOf(path, limits).catch(() => undefined);
      if (isMetaOf(path, meta)) yield { meta, path, changedAt };
    }
  }

  return {
    create: async (thread) => {
      const { id, file } = await create(thread);
      return { id, file };
    },
    async open(id) {
      const path = await find(id);
      const file = await openThreadFile({ path, meta: undefined, now, limits });
      try {
        // Read after the lock is taken: another process may have appended until then.
        return { ...(await read(path)), file };
      } catch (error) {
        await file.close();
        throw error;
      }
    },
    async fork(id) {
      const { saved, meta: from } = await read(await find(id));
      const { cwd, model_provider: modelProvider, environment } = from;
      const place = environment === undefined ? {} : { environment };
      const { id: forked, meta, file } = await create({ cwd, modelProvider, ...place, forkedFrom: from.id });
      for (const item of saved.items) await file.append({ type: "item", item });
      return { saved: { ...saved, id: forked }, meta, file };
    },
    async findLast(cwd) {
      for await (const thread of list()) if (cwd === undefined || thread.meta.cwd === cwd) return thread;
      const where = cwd === undefined ? sessions : `the directory ${cwd}`;
      throw new ThreadStoreError("no_thread", `there is no thread of ${where} to resume`);
    },
    async find(id) {
      const path = await find(id);
      const meta = await readMetaOf(path, limits);
      if (!isMetaOf(path, meta)) throw createBadThread(path);
      return { meta, path, changedAt: (await stat(path)).mtimeMs };
    },
    async *readEntries(id) {
      for await (const text of readLines(await find(id), limits)) {
        const entry = parseEntry(text);
        if (entry !== undefined) yield entry;
      }
    },
    async *readLines(id) {
      for await (const text of readLines(await find(id), limits)) {
        const line = parseLine(text);
        if (line !== undefined) yield line;
      }
    },
    list,
  };
}

/** Whether the id in a file's first line matches its name, so that a file cannot introduce a wrong or invalid id. */
const isMetaOf = (path: string, meta: ThreadMeta | undefined): meta is ThreadMeta =>
  meta !== undefined && idOf(path) === meta.id.toLowerCase();

const createBadThread = (path: string) =>
  new ThreadStoreError("bad_thread", `${path}: the thread id in its first line does not match its name`);

/** The id in the name of a thread's file. */
const idOf = (path: string): string | undefined => /-([0-9a-f-]{36})\.jsonl$/.exec(path)?.[1];

const ID_PREFIX = /^[0-9a-f][0-9a-f-]{5,35}$/;

/** `YYYY/MM/DD/rollout-<local time>-<id>.jsonl`. */
function pathOf(sessions: string, id: string, at: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const [year, month, day] = [String(at.getFullYear()), two(at.getMonth() + 1), two(at.getDate())];
  const time = `${two(at.getHours())}-${two(at.getMinutes())}-${two(at.getSeconds())}`;
  return join(sessions, year, month, day, `rollout-${year}-${month}-${day}T${time}-${id}.jsonl`);
}

/** Yields the files of threads, latest days first. */
async function* listFiles(directory: string, depth = 0): AsyncGenerator<string, void, void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? 1 : -1))) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && depth < 3 && /^\d{2,4}$/.test(entry.name)) yield* listFiles(path, depth + 1);
    else if (entry.isFile() && /^rollout-.*\.jsonl$/.test(entry.name)) yield path;
  }
}
