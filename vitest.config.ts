import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { gateThreadOfSources } from "./scripts/gate-thread.mjs";

// Every start of Node reads the certificates that this names, which takes longer than the rest of the start, and no test
// connects to another host.
delete process.env.NODE_EXTRA_CA_CERTS;

// Tests run against the TypeScript sources; only tests of the command itself use the built bundle.
const source = (path: string) => fileURLToPath(new URL(`./packages/${path}`, import.meta.url));

/** Tests that change or measure their process: memory, descriptors, children, flags of V8. All others share a few
 * processes, see `packages/testkit/test/shared-process`. */
const OWN_PROCESS = [
  "examples/test/**/*.test.mjs",
  "packages/{native,process-host}/test/**/*.test.ts",
  "packages/testkit/test/*.test.ts",
  "packages/testkit/test/{faces,faults,tunnel}/**/*.test.ts",
  "packages/view/test/{appearance,flood,run}.test.ts",
  "packages/agent-terminal/test/settings/environment-context.test.ts",
  "packages/channel/test/json-rpc/peer.test.ts",
  "packages/servers/test/process/tune-engine.test.ts",
  "packages/exec-server/test/connection/flow.test.ts",
  "packages/executor/test/idempotency/ledger.test.ts",
  "packages/hooks/test/run-command.test.ts",
  "packages/host-files/test/{operations/read-directory,page-cache/parity,paths/no-follow}.test.ts",
  "packages/mcp-client/test/transports/stdio.test.ts",
  "packages/openai-agents/test/openai-agents.test.ts",
];

/** What takes more than 10 s, the longest first: started first, so that none of them is the last one to run. */
const LONG = [
  "testkit/test/first-use",
  "testkit/test/packed",
  "testkit/test/soak",
  "environments/test/links/command",
  "environments/test/ssh/",
  "cli/test/agent/",
  "cli/test/mcp",
  "cli/test/lost-connection",
  "cli/test/interactive",
  "host-files/test/sandboxed/",
  "policy/test/hidden-variants",
  "shell-snapshot/test/",
  "view/test/run",
  "conformance/test/own-server",
  "process-host/test/ending/strays",
  "mcp-client/test/",
  "environments/test/",
  "mcp/test/",
  "sandbox/test/hostile",
  "/channel/test/channel.test",
  "local/test/face-kit",
  "relay/test/channel",
  "cli/test/resume/cuts",
  "host-files/test/operations/remove",
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const index = LONG.findIndex((each) => moduleId.includes(each));
      return (project.config.isolate ? 0 : LONG.length + 1) + (index < 0 ? LONG.length : index);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

const ALL = ["packages/*/test/**/*.test.ts", "{conformance,examples}/test/**/*.test.mjs"];

export default defineConfig({
  plugins: [gateThreadOfSources()],
  resolve: {
    alias: [
      { find: /^@codex\/([^/]+)\/([^/]+)$/, replacement: source("$1/src/$2/index.ts") },
      { find: /^@codex\/([^/]+)$/, replacement: source("$1/src/index.ts") },
    ],
  },
  test: {
    projects: [
      { extends: true, test: { name: "own process", include: OWN_PROCESS } },
      {
        extends: true,
        test: {
          name: "shared process",
          include: ALL,
          exclude: [...OWN_PROCESS, "**/node_modules/**"],
          // Starting a process and evaluating the sources takes longer than most of these tests.
          isolate: false,
          runner: source("testkit/test/shared-process/runner.ts"),
          setupFiles: source("testkit/test/shared-process/unchanged.ts"),
        },
      },
    ],
    sequence: { sequencer: LongFirst },
    // The limit of a wait for a condition: `expect.poll`, in place of its default of 1 s, which a busy machine exceeds.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    // Machines of CI are shared, and some tests watch what a scheduler does: what fails once is run again, and shown as retried.
    retry: process.env.CI === undefined ? 0 : 1,
    // Most tests wait for processes: two workers more than there are processors, not one less.
    maxWorkers: availableParallelism() + 2,
  },
});
