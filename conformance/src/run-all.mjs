import { setMaxListeners } from "node:events";
import { readCases } from "./cases.mjs";
import { startWeb } from "./fixture.mjs";
import { UsageError } from "./options.mjs";
import { runCase } from "./run-case.mjs";
import { createServers } from "./server.mjs";

const RECORDED = new URL("../cases/exec-server.json", import.meta.url);
const EXTENSIONS = new URL("../cases/extensions.json", import.meta.url);

/**
 * Runs the selected cases, `jobs` at a time.
 * @param {ReturnType<typeof import("./options.mjs").parseOptions>} options
 * @param {{ stop?: AbortSignal, onServers?: (servers: import("./server.mjs").Servers) => void }} [more] `stop`: starts no
 *   further case, and ends running ones at once; `onServers` is called before the first one starts
 * @returns {Promise<import("./run-case.mjs").Result[]>} in the order of the files
 * @throws UsageError when no case is selected
 */
export async function runAll(options, { stop = new AbortController().signal, onServers } = {}) {
  const cases = selectCases(options);
  const servers = createServers(options.server);
  onServers?.(servers);
  // Each running case adds a listener.
  setMaxListeners(0, stop);
  const web = await startWeb();
  try {
    const { timeoutMs, settleMs, stdio: overStdio } = options;
    const run = (each) => runCase(each, { servers, httpBase: web.base, timeoutMs, settleMs, overStdio, stop });
    return await inParallel(cases, options.jobs, run, stop);
  } finally {
    await web.close();
    servers.killAll();
  }
}

export function selectCases({ cases: files, filter, extensions }) {
  const sources = files.length > 0 ? files : [RECORDED, ...(extensions ? [EXTENSIONS] : [])];
  const selected = readAll(sources)
    .filter(({ extension }) => extensions || extension === undefined)
    .filter(({ name }) => name.includes(filter));
  if (selected.length === 0)
    throw new UsageError(`no case to run: none of ${sources.join(", ")} matches \`${filter}\``);
  return selected;
}

function readAll(sources) {
  try {
    return sources.flatMap((source) => readCases(source));
  } catch (cause) {
    throw new UsageError(cause.message, { cause });
  }
}

async function inParallel(items, jobs, run, stop) {
  const results = [];
  const queue = items.entries();
  const work = async () => {
    for (const [index, item] of queue) {
      if (stop.aborted) return;
      results[index] = await run(item);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return results;
}
