import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connectFiles, createRemoteEnvironment, createWebSocketLink } from "@codex/environments";
import { createOrchestrator, type Orchestrator, type OrchestratorOptions } from "@codex/orchestrator";
import { onTestFinished } from "vitest";

const codex = fileURLToPath(new URL("../../cli/dist/codex.js", import.meta.url));

/** An orchestrator with one executor, a process behind a websocket. Closed at the end of the test. */
export async function openAtWebSocket(options: OrchestratorOptions): Promise<Orchestrator> {
  const child = spawn(process.execPath, [codex, "executor", "--listen", "ws://127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const orchestrator = createOrchestrator({ defaults: { login: false, shell: "sh" }, ...options, connectFiles });
  const environment = createRemoteEnvironment({ id: "far", kind: "websocket", link: createWebSocketLink({ url }) });
  onTestFinished(async () => {
    await orchestrator.close();
    await environment.close();
  });
  await environment.attach(orchestrator);
  return orchestrator;
}
