import { createMemoryChannelPair } from "@codex/channel";
import { createExecutor } from "@codex/executor";
import { createOrchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";
import { expect, it } from "vitest";

const COUNT = 100_000;
const WANTED = Array.from({ length: COUNT }, (_, index) => `${String(index).padStart(7, "0")}\n`).join("");

it("a program that has ended long before its output is read loses none of it", async () => {
  const executor = createExecutor({ backend: () => createLocalBackend() });
  const [channel, far] = createMemoryChannelPair({ highWaterBytes: 1_000, maxWaitingBytes: 1_000 });
  const served = executor.serve(far);
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  await orchestrator.attach({ name: "main", channel });
  const taken: Buffer[] = [];
  const command = orchestrator.runCommand(
    {
      argv: ["seq", "-f", "%07.0f", "0", String(COUNT - 1)],
      cwd: "/tmp",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      tty: false,
    },
    {
      async onOutput({ bytes }) {
        taken.push(bytes);
        // The reader is slow on purpose; nothing is synchronized by it.
        await new Promise((resolve) => setTimeout(resolve, 5));
      },
    },
  );
  expect(await command.ended).toEqual({ kind: "ended", outcome: { kind: "exited", code: 0 }, exitCode: 0 });
  expect(Buffer.concat(taken).toString() === WANTED).toBe(true);
  await orchestrator.close();
  await served;
  await executor.close();
});
