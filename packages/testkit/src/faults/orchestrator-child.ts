import { connectWebSocket, createOrchestrator } from "@codex/orchestrator";
import { createRandom } from "../random.js";
import { type DriveEvent, driveCommand } from "./drive-command.js";
import { History } from "./history.js";
import { connectExecutor } from "./killed-targets.js";

/** One line of stdout each. */
export type ChildMessage =
  | { kind: "attached" }
  | { kind: "note"; text: string }
  | { kind: "event"; name: string; event: DriveEvent };

/** An orchestrator that drives the programs of a seed and is killed meanwhile; it reports each step before taking it. */
async function main([seed, kind, directory, programs, url]: string[]): Promise<void> {
  const random = createRandom(Number(seed), kind);
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  await orchestrator.attach({
    name: "main",
    ...(url === undefined ? { channel: connectExecutor(directory!) } : { reconnect: () => connectWebSocket(url) }),
  });
  tell({ kind: "attached" });
  const history = new History((text) => tell({ kind: "note", text }));
  const drives = Array.from({ length: Number(programs) }, (_, index) =>
    driveCommand({
      name: `p${index + 1}`,
      directory: directory!,
      random: random.fork(`process ${index + 1}`),
      history,
      orchestrator,
      mayBeLost: () => false,
      onEvent: (event) => tell({ kind: "event", name: `p${index + 1}`, event }),
    }),
  );
  await Promise.all(drives);
  // Killed when it has nothing to do, too: ending by itself is another matter.
  setInterval(() => {}, 1_000);
}

/** Writes to a pipe are synchronous: reported steps are not lost with the process. */
function tell(message: ChildMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1); // its executor would keep it
});
