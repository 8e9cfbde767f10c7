import { connectWebSocket, createOrchestrator } from "@codex/orchestrator";
import { createRandom } from "../random.js";
import { type DriveEvent, driveCommand } from "./drive-command.js";
import { History } from "./history.js";
import { connectExecutor } from "./killed-targets.js";

/** A message to the parent: one line of stdout. */
export type ChildMessage =
  | { kind: "attached" }
  | { kind: "note"; text: string }
  | { kind: "event"; name: string; event: DriveEvent };

/** An orchestrator that drives the programs of a seed until it is killed; it reports each step before taking it. */
async function main([seed, kind, directory, programs, url]: string[]): Promise<void> {
  const random = createRandom(Number(seed), kind);
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  await orchestrator.attach({
    name: "main",
    ...(url === undefined ? { channel: connectExecutor(directory!) } : { reconnect: () => connectWebSocket(url) }),
  });
  report({ kind: "attached" });
  const history = new History((text) => report({ kind: "note", text }));
  const drives = Array.from({ length: Number(programs) }, (_, index) =>
    driveCommand({
      name: `p${index + 1}`,
      directory: directory!,
      random: random.fork(`process ${index + 1}`),
      history,
      orchestrator,
      mayBeLost: () => false,
      onEvent: (event) => report({ kind: "event", name: `p${index + 1}`, event }),
    }),
  );
  await Promise.all(drives);
  // It does not exit when it is done, as it must be killed.
  setInterval(() => {}, 1_000);
}

/** Writes to a pipe are synchronous: reported steps are not lost with the process. */
function report(message: ChildMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1); // its executor would keep it alive
});
