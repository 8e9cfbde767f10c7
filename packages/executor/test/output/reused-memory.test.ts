import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Channel, createStdioChannel, type Received } from "@codex/channel";
import { decodeOutputHead, type WhenFull } from "@codex/executor-protocol";
import { createLocalBackend } from "@codex/process-host";
import { expect, it, onTestFinished } from "vitest";
import { createExecutor } from "../../src/index.js";
import { execRequest } from "../support/client.js";
import { TRANSPORTS } from "../support/transports.js";

/** Lines `0000000` to the last one: each piece of the output differs from every other. */
const LINES = 1_000_000;
const MODES: [WhenFull, flowControl: boolean][] = [
  ["pause", true],
  ["drop", false],
];

/** A file with them, which is written to a pipe faster than it is read, and its hash. */
function writeLines() {
  const directory = mkdtempSync(join(tmpdir(), "codex-lines-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "lines");
  const lines = Buffer.from(Array.from({ length: LINES }, (_, at) => `${String(at).padStart(7, "0")}\n`).join(""));
  writeFileSync(file, lines);
  return { file, expected: createHash("md5").update(lines).digest("hex") };
}

/** A stdio channel over a socket, as between processes. */
async function openSockets(): Promise<[Channel, Channel]> {
  const directory = mkdtempSync(join(tmpdir(), "codex-socket-"));
  const path = join(directory, "socket");
  const server = createServer().listen(path);
  await once(server, "listening");
  const own = connect(path);
  const [theirs] = await once(server, "connection");
  server.close();
  rmSync(directory, { recursive: true });
  return [createStdioChannel({ input: own, output: own }), createStdioChannel({ input: theirs, output: theirs })];
}

const WIRES = [{ name: "stdio", open: openSockets }, ...TRANSPORTS.filter(({ name }) => name === "websocket")];

it.each(WIRES)("output over $name is what was written, although its memory is reused", async ({ open }) => {
  const { file, expected } = writeLines();
  for (const [whenFull, flowControl] of MODES) {
    const { bytes, hash } = await receiveSlowly(await open(), ["cat", file], whenFull, flowControl);
    expect([whenFull, bytes, hash]).toEqual([whenFull, LINES * 8, expected]);
  }
});

/** The output of a command, received with pauses in which the channel fills. */
async function receiveSlowly(
  [channel, theirs]: [Channel, Channel],
  command: string[],
  whenFull: WhenFull,
  flowControl: boolean,
) {
  const backend = createLocalBackend();
  const served = createExecutor({ backend }).serve(theirs, { resumable: false });
  onTestFinished(async () => {
    await channel.close();
    await served;
    await backend.close();
  });
  channel.binary?.accept();
  const terms = { flowControl, binaryOutput: true };
  await channel.send({ type: "initialize", requestId: "0", clientName: "test", protocolVersion: "1", ...terms });
  const request = { ...execRequest({ command, whenFull }), yieldTimeMs: 60_000 };
  await channel.send({ type: "call_tool", requestId: "1", toolName: "exec_command", arguments: request });
  const hash = createHash("md5");
  let bytes = 0;
  let received = await channel.receive();
  for (let frames = 0; received?.kind === "bytes" || !isAnswer(received); received = await channel.receive()) {
    if (received?.kind !== "bytes") continue;
    if (++frames % 40 === 0) await setTimeout(40);
    hash.update(received.bytes);
    bytes += received.bytes.length;
    const head = decodeOutputHead(received.head);
    if (typeof head === "string") throw new Error(head);
    if (received.isLast && flowControl)
      await channel.send({ type: "ack", output: [{ processId: head.processId, offset: bytes }] });
  }
  return { bytes, hash: hash.digest("hex") };
}

const isAnswer = (received: Received | undefined): boolean =>
  received === undefined ||
  (received.kind === "value" && (received.value as { type?: unknown }).type === "call_tool_response"); // an object
