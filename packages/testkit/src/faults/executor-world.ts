import type { World } from "./exec-server-world.js";
import { runExecutor } from "./executor-run.js";
import { listenExecutor, openOnce, openResumed, openStreams } from "./executor-targets.js";
import { openExecutorKilled } from "./killed-targets.js";
import { runOrchestratorKilled } from "./orchestrator-killed.js";

const KINDS: Readonly<Record<string, number>> = {
  resumed: 20,
  once: 7,
  streams: 3,
  "executor-killed": 1,
  "orchestrator-killed": 1,
};

/** Executors in this process, with a new orchestrator for each run. */
export async function createExecutorWorld(): Promise<World> {
  const [lasting, brief] = await Promise.all([
    listenExecutor({ resumable: true }),
    listenExecutor({ resumable: false }),
  ]);
  return {
    kinds: KINDS,
    run(kind, seed) {
      switch (kind) {
        case "resumed":
          return runExecutor(seed, kind, (context) => openResumed(lasting.url, context));
        case "once":
          return runExecutor(seed, kind, (context) => openOnce(brief.url, context));
        case "streams":
          return runExecutor(seed, kind, (context) => openStreams(context));
        case "executor-killed":
          return runExecutor(seed, kind, openExecutorKilled);
        case "orchestrator-killed":
          return runOrchestratorKilled(seed);
        default:
          throw new RangeError(`no kind of run is called ${JSON.stringify(kind)}`);
      }
    },
    async close() {
      await Promise.all([lasting.close(), brief.close()]);
    },
  };
}

/** Both worlds as one. */
export function joinWorlds(worlds: readonly World[]): World {
  return {
    kinds: Object.assign({}, ...worlds.map(({ kinds }) => kinds)),
    run(kind, seed) {
      const world = worlds.find(({ kinds }) => Object.hasOwn(kinds, kind));
      if (world === undefined) throw new RangeError(`no kind of run is called ${JSON.stringify(kind)}`);
      return world.run(kind, seed);
    },
    async close() {
      for (const world of worlds) await world.close();
    },
  };
}
