import type { LiveOutput } from "@codex/orchestrator";
import { expect, it } from "vitest";
import { collectOutput, toStream } from "../src/sandbox/collected-output.js";

const piece = (text: string, dropped?: LiveOutput["dropped"]): LiveOutput => ({
  stream: "stdout",
  bytes: Buffer.from(text),
  offset: 0,
  seq: 1,
  sessionId: 1,
  ...(dropped === undefined ? {} : { dropped }),
});

async function* withGap(): AsyncGenerator<LiveOutput> {
  yield piece("before");
  yield piece("after", { from: 6, to: 9 });
  yield piece("", { from: 14, to: 20 });
}

it("text names the ranges that are missing, where they are", async () => {
  const gaps = ["\n[bytes 6-9 of the output are gone]\n", "\n[bytes 14-20 of the output are gone]\n"];
  expect(await collectOutput(withGap())).toBe(`before${gaps[0]}after${gaps[1]}`);
});

it("a stream of bytes gives what there is, and then fails with the ranges that are missing", async () => {
  const reader = toStream(withGap()).getReader();
  expect(Buffer.from((await reader.read()).value!).toString()).toBe("before");
  expect(Buffer.from((await reader.read()).value!).toString()).toBe("after");
  await expect(reader.read()).rejects.toThrow("bytes 6-9, 14-20 of the output");
});
