import { randomBytes } from "node:crypto";
import { systemClock, waitAtMost } from "@codex/clock";
import type { ExecBackend, ProcessSpec } from "@codex/exec-backend";
import { MAX_STATE_BYTES } from "./limits.js";
import { NONCE, parseState, type ShellState } from "./shell-state.js";

/** The state that a shell reports, or why there is no report. Ends everything that was started. Never rejects. */
export async function captureState(
  backend: ExecBackend,
  spec: Pick<ProcessSpec, "cwd" | "env" | "sandbox"> & { shell: string; flags: string; report: string },
  deadlineMs: number,
): Promise<ShellState | { reason: string }> {
  const { shell, flags, report, ...place } = spec;
  const nonce = randomBytes(24).toString("hex");
  const argv = [shell, flags, report.replaceAll(NONCE, nonce)];
  const log = { headBytes: MAX_STATE_BYTES, tailBytes: 0, spillBytes: 0 };
  try {
    const process = await backend.start({ argv, ...place, stdio: { kind: "pipe", stdin: "null" }, log });
    try {
      const outcome = await waitAtMost(systemClock, deadlineMs, process.exited);
      // A process that it left running may keep its output open.
      await process.terminate({ graceMs: 0 });
      await process.closed;
      if (outcome === undefined) return { reason: `they did not finish within ${deadlineMs} ms` };
      if (process.log.end > MAX_STATE_BYTES)
        return { reason: `the shell reported a state of more than ${MAX_STATE_BYTES} bytes` };
      const { chunks, evicted } = await process.log.read(0);
      if (evicted.length > 0) return { reason: "a part of the state that the shell reported was lost" };
      const output = chunks.filter(({ stream }) => stream === "stdout").map(({ bytes }) => bytes);
      return parseState(Buffer.concat(output), nonce) ?? { reason: "they end the shell, or replace it" };
    } finally {
      process.dispose();
    }
  } catch {
    return { reason: "the shell could not be started" };
  }
}
