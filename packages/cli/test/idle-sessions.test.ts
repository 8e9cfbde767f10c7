import { readFileSync } from "node:fs";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { createOrchestrator } from "@codex/orchestrator";
import { expect, it } from "vitest";
import { useCommand } from "./support.js";

const SESSIONS = 300;
/** Begun at once: so much survives then that V8 would let its space for new objects grow to 32 MB. */
const AT_ONCE = 50;
/** Some 10 KB of it stay; the rest is what waits for a collection. With a space that grows it is 70 KB. */
const MOST_BYTES_EACH = 48 * 1024;
const PAGE_BYTES = 4096;

const command = useCommand();

it.runIf(process.platform === "linux")("an idle session takes little memory of an executor, however many", async () => {
  const { child, url } = await command.listen(["--max-sessions", String(SESSIONS + AT_ONCE)]);
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  await orchestrator.attach({ name: "idle", channel: connectWebSocketChannel(url) });
  const start = async () => {
    const args = { cmd: "exec sleep 1000", login: false, yield_time_ms: 250 };
    const { structured } = await orchestrator.callTool("exec_command", args);
    expect(structured).toMatchObject({ outcome: { kind: "running" } });
  };
  const startSome = () => Promise.all(Array.from({ length: AT_ONCE }, start));
  // Whatever the first ones load and compile.
  await startSome();
  const before = anonymousBytes(child.pid!);
  for (let started = 0; started < SESSIONS; started += AT_ONCE) await startSome();
  expect((anonymousBytes(child.pid!) - before) / SESSIONS).toBeLessThan(MOST_BYTES_EACH);
  await orchestrator.close();
});

/** Not from `smaps`, which nobody else may read of an executor. */
function anonymousBytes(pid: number): number {
  const [, resident, shared] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ").map(Number);
  return (resident! - shared!) * PAGE_BYTES;
}
