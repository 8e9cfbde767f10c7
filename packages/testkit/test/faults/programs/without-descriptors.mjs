import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Child } from "../../../../environments/dist/links/child.js";
import { guardGroup } from "../../../../environments/dist/links/guard.js";
import { DEFAULT_FILE_SYSTEM_LIMITS } from "../../../../host-files/dist/limits.js";
import { Helper } from "../../../../host-files/dist/sandboxed/helper.js";
import { connectStdio } from "../../../../orchestrator/dist/index.js";
import { createCommandSandbox } from "../../../../sandbox/dist/index.js";
import { openSocketPlace } from "../../../../servers/dist/background/socket-place.js";
import { startServer } from "../../../../servers/dist/background/start-server.js";

/** Starts programs in every way while this process has few free descriptors. To be started with a low limit of them. */
const { runProgram } = await import(process.argv[2]);
const directory = mkdtempSync(join(tmpdir(), "codex-descriptors-"));
const place = openSocketPlace("test", { env: { XDG_RUNTIME_DIR: directory } });
const program = "/bin/cat";
const env = { PATH: "/usr/bin:/bin" };
const wrapped = () => ({
  file: program,
  args: [],
  cwd: "/",
  env,
  descriptors: [],
  freeNames: [],
  reservedPaths: [],
  detach() {},
  release: async () => {},
});
const ways = {
  connectStdio: async () => void (await (await connectStdio({ command: program })).close()),
  environment: async () => void (await (await Child.start({ program, env })).end()),
  guard: async () => guardGroup(2 ** 22, env)(),
  doctor: async () => void (await runProgram("/bin/true", [])),
  background: async () => void (await startServer(place, { argv: ["/bin/sh", "-c", "echo ready >&3"], cwd: "/", env })),
  helper: async () => {
    const helper = new Helper(wrapped(), DEFAULT_FILE_SYSTEM_LIMITS);
    setTimeout(() => void helper.end(), 50);
    await helper.call("getMetadata", { path: "file:///" });
  },
  sandbox: async () => {
    const { kind, problem } = await createCommandSandbox().getSupport();
    if (kind === "none") throw new Error(problem);
  },
};
const said = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
const tryAll = async () => {
  for (const [way, start] of Object.entries(ways)) {
    said[way].push(
      await start().then(
        () => "started",
        (error) => `${error.message}: ${error.cause?.message ?? ""}`,
      ),
    );
  }
};
await tryAll(); // everything is loaded
for (const way of Object.keys(ways)) said[way] = [];
for (const free of [0, 3, 5, 7, 12]) {
  const taken = [];
  try {
    for (;;) taken.push(openSync("/dev/null"));
  } catch {
    for (let count = 0; count < free; count += 1) closeSync(taken.pop());
  }
  await tryAll();
  for (const fd of taken) closeSync(fd);
}
rmSync(directory, { recursive: true, force: true });
process.stdout.write(JSON.stringify(said));
