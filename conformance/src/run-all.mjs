import { readCases } from "./cases.mjs";
import { UsageError } from "./options.mjs";
import { runCase } from "./run-case.mjs";
import { createServers } from "./server.mjs";
import { startWeb } from "./surroundings.mjs";

const RECORDED = new URL("../cases/exec-server.json", import.meta.url);
const EXTENSIONS = new URL("../cases/extensions.json", import.meta.url);

/**
 * Runs the cases that were asked for, a few at a time.
 * @param {ReturnType<typeof import("./options.mjs").parseOptions>} options
 * @param {(servers: import("./server.mjs").Servers) => void} [onServers] told before the first one starts
 * @returns {Promise<import("./run-case.mjs").Result[]>} in the order of the files
 * @throws UsageError when there is nothing to run
 */
export async function runAll(options, onServers) {
  const cases = selectCases(options);
  const servers = createServers(options.server);
  onServers?.(servers);
  const web = await startWeb();
  try {
    const { timeoutMs, stdio: overStdio } = options;
    const run = (each) => runCase(each, { servers, httpBase: web.base, timeoutMs, overStdio });
    return await inParallel(cases, options.jobs, run);
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

async function inParallel(items, jobs, run) {
  const results = [];
  const queue = items.entries();
  const work = async () => {
    for (const [index, item] of queue) results[index] = await run(item);
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return results;
}
