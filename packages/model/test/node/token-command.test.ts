import { createTokenReader } from "@codex/model/node";
import { describe, expect, it } from "vitest";

const reader = (script: string, more: object = {}) =>
  createTokenReader({
    command: process.execPath,
    args: ["-e", script],
    cwd: undefined,
    timeoutMs: 30_000,
    refreshMs: 60_000,
    ...more,
  });
const signal = new AbortController().signal;

describe("the program for a token", () => {
  it("is asked once while its token is fresh", async () => {
    const read = reader("console.log(' token-' + process.hrtime.bigint() + ' ')");
    const token = await read(signal);
    expect(token).toMatch(/^token-\d+$/);
    expect(await read(signal)).toBe(token);
    expect(await read(signal, token)).not.toBe(token);
  });

  it.each([
    ["fails", "console.log('secret-1'); process.exit(3)", /failed: exit 3/],
    ["prints nothing", "", /printed nothing/],
    ["prints several lines", "console.log('secret-1\\nsecret-2')", /is not a token/],
  ])("that %s is an error that does not show what it printed", async (_name, script, message) => {
    const failure = await reader(script)(signal).catch((error: unknown) => String(error));
    expect(failure).toMatch(message);
    expect(failure).not.toContain("secret-");
  });

  it("ends with the reason of the signal, and with what failed as an error of the model", async () => {
    const reason = new Error("the turn was interrupted");
    const abort = new AbortController();
    const reading = reader("setInterval(() => {}, 1000); process.on('SIGTERM', () => {})")(abort.signal);
    abort.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await expect(reader("")(abort.signal)).rejects.toBe(reason);
    const failure = await reader("process.exit(3)")(signal).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "ModelError", code: "unauthorized", retry: "never" });
  });

  it("is killed after its time, also if it ignores signals", async () => {
    const script = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
    await expect(reader(script, { timeoutMs: 300 })(signal)).rejects.toThrow("it took too long");
  });
});
