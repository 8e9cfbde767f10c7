// pnpm conformance:mcp: the conformance suite of the Model Context Protocol against our server, over HTTP on loopback.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLocalOrchestrator } from "@codex/local";
import { createMcpServers } from "@codex/mcp";
import { listenMcp } from "@codex/mcp/http";
import { FIXTURES } from "./fixtures.mjs";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
/** The first version of Node on which the suite runs. */
const MINIMUM_NODE = 22;
/** Below one second, so that a fixture that takes one becomes a task; milliseconds. */
const MAX_HOLD_MS = 700;

const RUNS = [
  { args: ["--requirements", "2026-07-28"], expected: "expected-failures-2026-07-28.yml" },
  { args: ["--suite", "active"], expected: "expected-failures-active.yml" },
];

const orchestrator = await createLocalOrchestrator({
  policy: { approvalPolicy: "on-request", sandbox: "read-only" },
  tools: FIXTURES,
});
const directory = mkdtempSync(join(tmpdir(), "codex-mcp-conformance-"));
try {
  if (Number(process.versions.node.split(".")[0]) < MINIMUM_NODE) {
    throw new Error(`the suite needs Node ${MINIMUM_NODE} or later; this is ${process.version}`);
  }
  for (const { args, expected } of RUNS) {
    // Each run gets a server of its own: the suite opens more sessions than one client may have.
    const servers = createMcpServers(orchestrator, { maxHoldMs: MAX_HOLD_MS });
    const listener = await listenMcp(servers);
    const code = await run(listener.url, [
      ...args,
      "--expected-failures",
      fileURLToPath(new URL(expected, import.meta.url)),
    ]);
    await listener.close();
    servers.close();
    if (code !== 0) process.exitCode = 1;
  }
} finally {
  rmSync(directory, { recursive: true });
  await orchestrator.close();
}

/** Runs the suite outside of this workspace, whose package manager it must not use. */
async function run(url, args) {
  const command = ["exec", "--yes", `--package=${SUITE}`, "--", "conformance", "server", "--url", url, ...args];
  const child = spawn("npm", [...command, "-o", join(directory, "results")], { cwd: directory, stdio: "inherit" });
  const [code] = await once(child, "close");
  return code;
}
