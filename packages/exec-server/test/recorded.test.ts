import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { createStdioChannel } from "@codex/channel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveStdio } from "../src/index.js";
import { createFixture, type RecordedCase, replay, summarize } from "./replay.js";
import { type Message, paramsOf, RawClient, useServer } from "./support.js";

const [, ...recordings] = JSON.parse(
  readFileSync(new URL("../../../conformance/cases/exec-server.json", import.meta.url), "utf8"),
) as [unknown, ...RecordedCase[]];
/** Without those that poll: they are replayed by the runner of `conformance` alone. */
const cases = recordings.filter(({ send }) => !send.some((step) => "$poll" in step));

/** Answers that differ from Codex 0.169.0 on purpose, by the case and the id. */
const DELIBERATE: Record<string, Record<number, unknown>> = {
  // Positional params are refused.
  "handshake.initialize-params-as-array": { 1: { code: -32602 } },
  // It exists here.
  "frame.unknown-method-before-initialize": { 1: { code: -32602 } },
  "write.after-exit-still-accepted": { 3: { result: { status: "stdinClosed" } } },
  // The form of the first exec-servers, which had no write ids.
  "write.missing-writeId": { 2: { result: { status: "unknownProcess", accepted: false } } },
  // It is left as it was.
  "fs.copy-file-onto-itself-truncates": { 3: { result: { dataBase64: "aGVsbG8=" } } },
  // Nothing sandboxed was run.
  "sandbox.disabled-still-reports-linuxSeccomp": { 2: { result: { processId: "p", sandboxType: "none" } } },
};

/** 128 + the signal, on a terminal as well. */
const EXIT_CODES: Record<string, number> = { "terminate.tty-exit-code-1": 137 };

describe("recorded exchanges of Codex 0.169.0", () => {
  const server = useServer();
  const web = createServer((_request, response) => {
    response.setHeader("x-multi", ["a", "b"]);
    response.end("hello");
  });
  beforeAll(() => new Promise<void>((resolve) => void web.listen(0, "127.0.0.1", resolve)));
  afterAll(() => new Promise<void>((resolve) => void web.close(() => resolve())));

  const dialStdio = async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    void serveStdio(await server.get(), { input, output });
    const client = new RawClient(createStdioChannel({ input: output, output: input }));
    server.defer(() => client.close());
    return client;
  };

  it.each(cases)("$name", async (recorded) => {
    const fixture = await createFixture();
    server.defer(() => fixture.remove());
    const names = { $FIXTURE: fixture.path, $HTTP: `http://127.0.0.1:${(web.address() as AddressInfo).port}` };
    const wire =
      recorded.transport === "stdio"
        ? { dial: dialStdio, cut: () => {} }
        : await server.listen().then(({ dial, relay }) => ({ dial, cut: () => relay.cut() }));
    const clients = await replay(recorded, wire, names);
    for (const [index, client] of clients.entries()) {
      const text = JSON.stringify(recorded.expect.filter(({ $connection = 0 }) => $connection === index));
      const exitCode = EXIT_CODES[recorded.name];
      const recording = JSON.parse(text.replaceAll("$FIXTURE", fixture.path)) as Message[];
      const exit = recording.find(({ method }) => method === "process/exited");
      if (exit !== undefined && exitCode !== undefined) paramsOf(exit).exitCode = exitCode;
      const { messageMatters = false } = recorded;
      const wanted = summarize(recording, { messageMatters });
      for (const [id, answer] of Object.entries(DELIBERATE[recorded.name] ?? {})) {
        const at = wanted.answers.findIndex((candidate) => candidate.id === Number(id));
        if (at !== -1) wanted.answers[at] = { id: Number(id), ...(answer as { code: number }) };
      }
      expect(summarize(client.received, { messageMatters })).toEqual(wanted);
    }
  });
});
