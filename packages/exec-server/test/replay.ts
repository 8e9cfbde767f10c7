import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Message, paramsOf, type RawClient } from "./support.js";

/** A recorded exchange; its first entry says how they are replayed and compared. */
export interface RecordedCase {
  name: string;
  compare: "exact" | "coalesced";
  send: Message[];
  expect: (Message & { $connection?: number })[];
  expectClosed?: unknown[];
  transport?: "stdio";
  requires?: string;
  messageMatters?: boolean;
  mayDiffer?: string;
}

export interface Wire {
  dial(): Promise<RawClient>;
  cut(): void;
}

/** The files that a case finds, in a folder of its own. */
export async function createFixture(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "exec-server-case-"));
  await mkdir(join(path, "sub", "deep"), { recursive: true });
  await mkdir(join(path, "empty"));
  await writeFile(join(path, "f.txt"), "hello");
  await writeFile(join(path, "sub", "g.txt"), "g");
  await writeFile(join(path, "sub", "deep", "h.txt"), "h");
  await symlink("f.txt", join(path, "link"));
  await symlink("missing", join(path, "dangling"));
  return { path, remove: () => rm(path, { recursive: true }) };
}

/** Says what a case says, one after the other, and gives back what came on each connection. */
export async function replay(recorded: RecordedCase, wire: Wire, names: Record<string, string>): Promise<RawClient[]> {
  const clients = [await wire.dial()];
  for (const step of recorded.send) {
    const client = clients.at(-1)!;
    const fill = (text: string) =>
      Object.entries({ ...names, $SESSION: sessionOf(clients[0]!) }).reduce(
        (filled, [name, value]) => filled.replaceAll(name, value),
        text,
      );
    if ("$sleepMs" in step) {
      // Where a case waits for the end of the connection it is waited for below.
      if (recorded.expectClosed === undefined) await setTimeout(step.$sleepMs as number);
    } else if ("$waitFor" in step) await client.until(({ method }) => method === step.$waitFor);
    else if ("$waitForId" in step) await client.until(({ id }) => id === step.$waitForId);
    else if ("$raw" in step) void client.channel.sendEncoded(Buffer.from(fill(step.$raw as string)));
    else if ("$touch" in step) await writeFile(fill(step.$touch as string), "");
    else if ("$drop" in step) wire.cut();
    else if ("$newConnection" in step) clients.push(await wire.dial());
    else {
      const seen = client.received.length;
      client.send(JSON.parse(fill(JSON.stringify(step))) as Message);
      const { id } = step;
      if (!("method" in step) || id === undefined || id === null) continue;
      await client.until(
        (message) => (message.id === id || message.id === -1) && client.received.indexOf(message) >= seen,
      );
    }
  }
  if (recorded.expectClosed !== undefined) await clients.at(-1)!.finished;
  return clients;
}

const sessionOf = ({ received }: RawClient): string =>
  received.map(({ result }) => (result as { sessionId?: string } | undefined)?.sessionId).find(Boolean) ?? "";

/** What is the same in a recording and a replay: answers by id, and each process's output, exit and last event. */
export function summarize(messages: readonly Message[], { messageMatters = false } = {}) {
  const answers = messages
    .filter((message) => !("method" in message))
    .map(({ id, result, error }) => {
      if (error === undefined) return { id, result: summarizeResult(result as Message) };
      const { code, message } = error as { code: number; message: string };
      return { id, code, ...(messageMatters ? { message: message.replace(UUID, "<sessionId>") } : {}) };
    });
  const events = messages.filter((message) => "method" in message);
  return { answers, processes: summarizeEvents(events), others: events.filter((event) => !isProcessEvent(event)) };
}

const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/;

const isProcessEvent = ({ method }: Message): boolean => /^process\//.test(method as string);

function summarizeResult(result: Message): unknown {
  if ("sessionId" in result) return "<initialized>";
  const { modifiedAtMs, headers, chunks, entries, ...rest } = result;
  return {
    ...rest,
    ...(modifiedAtMs === undefined ? {} : { modifiedAtMs: "<ms>" }),
    ...(headers === undefined
      ? {}
      : { headers: (headers as { name: string }[]).filter(({ name }) => name !== "date") }),
    // In the order of the directory, which is chance.
    ...(entries === undefined ? {} : { entries: [...(entries as object[])].sort(byText) }),
    ...(chunks === undefined ? {} : { chunks: joinChunks(chunks as Chunk[]) }),
  };
}

const byText = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

interface Chunk {
  stream: string;
  chunk: string;
}

/** The text of each stream: how it was cut is chance. */
function joinChunks(chunks: readonly Chunk[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const { stream, chunk } of chunks)
    texts[stream] = (texts[stream] ?? "") + Buffer.from(chunk, "base64").toString();
  return texts;
}

function summarizeEvents(events: readonly Message[]) {
  const processes: Record<string, unknown> = {};
  for (const id of new Set(events.filter(isProcessEvent).map((event) => paramsOf(event).processId as string))) {
    const own = events.filter((event) => isProcessEvent(event) && paramsOf(event).processId === id);
    const seqs = own.map((event) => paramsOf(event).seq as number).sort((a, b) => a - b);
    const exited = own.find(({ method }) => method === "process/exited");
    processes[id] = {
      hasGap: seqs.some((seq, index) => seq !== seqs[0]! + index),
      output: joinChunks(
        own.filter(({ method }) => method === "process/output").map((event) => paramsOf(event) as unknown as Chunk),
      ),
      exited: exited === undefined ? undefined : { ...paramsOf(exited), seq: undefined },
      closedLast: own.findIndex(({ method }) => method === "process/closed") === own.length - 1,
    };
  }
  return processes;
}
