import { type RecordedOutput, recordedOutputSchema } from "@codex/executor-protocol";
import type { Conversation } from "@codex/orchestrator";
import { quoteWords } from "@codex/policy/display";
import { createSessionRecording } from "@codex/recording";
import { safeParse } from "zod/mini";
import { MAX_RECORDING_LENGTH, MAX_RESOURCE_BYTES } from "../limits.js";
import type { ResourceKind } from "./session-uri.js";

/** A session that does not exist for this client, or that cannot be read; the message is for models. */
export class SessionReadError extends Error {}

export interface ReadRequest {
  session: number;
  /** Byte offset. */
  from: number;
  /** Milliseconds to wait if there is no output yet. */
  waitMs?: number;
  maxTokens?: number;
}

/** Reads output with times and outcome, without consuming it. @throws SessionReadError */
export async function readPart(
  conversation: Conversation,
  { session, from, waitMs = 0, maxTokens }: ReadRequest,
  signal?: AbortSignal,
): Promise<RecordedOutput> {
  const size = maxTokens === undefined ? {} : { max_output_tokens: maxTokens };
  const args = { session_id: session, from, chunks: true, wait_ms: waitMs, ...size };
  const result = await conversation.callTool("read_output", args, signal === undefined ? {} : { signal });
  const parsed = safeParse(recordedOutputSchema, result.structured);
  if (!result.isError && parsed.success) return parsed.data;
  throw new SessionReadError(
    result.isError ? result.text : "the executor of this session does not report when output was written",
  );
}

/** The content of a resource as text. @throws SessionReadError */
export async function readResource(conversation: Conversation, session: number, kind: ResourceKind): Promise<string> {
  if (kind === "output") return readOutput(conversation, session);
  if (kind === "recording.cast") return readRecording(conversation, session);
  const { isError, text } = await conversation.callTool("read_screen", { session_id: session });
  if (isError) throw new SessionReadError(text);
  return text;
}

/** The retained output; if it is longer than the limit, its end. What is missing is named. */
async function readOutput(conversation: Conversation, session: number): Promise<string> {
  const { end } = await readPart(conversation, { session, from: 0, maxTokens: 1 });
  const start = Math.max(0, end - MAX_RESOURCE_BYTES);
  const decoder = new TextDecoder();
  let text = start === 0 ? "" : `[bytes 0-${start} are left out here; read_output reads them]\n`;
  for await (const { chunks, gone } of readAll(conversation, session, start, end)) {
    const pieces = [
      ...gone.map(({ from, to }) => ({ at: from, read: () => `\n[bytes ${from}-${to} were not retained]\n` })),
      ...chunks.map(({ offset, data }) => {
        return { at: offset, read: () => decoder.decode(Buffer.from(data, "base64"), { stream: true }) };
      }),
    ];
    for (const { read } of pieces.sort((a, b) => a.at - b.at)) text += read();
  }
  return text + decoder.decode();
}

/** An asciicast v3 of the retained output from its beginning; one that is longer than the limit is cut at its end. */
async function readRecording(conversation: Conversation, session: number): Promise<string> {
  const recording = createSessionRecording(quoteWords);
  let last = await readPart(conversation, { session, from: 0 });
  let text = recording.add(last);
  for await (const part of readAll(conversation, session, last.range.to, last.end)) {
    if (text.length > MAX_RECORDING_LENGTH) return text;
    text += recording.add(part);
    last = part;
  }
  return text + recording.end(last);
}

/** The parts from an offset up to `end`. */
async function* readAll(conversation: Conversation, session: number, from: number, end: number) {
  for (let at = from; at < end; ) {
    const part = await readPart(conversation, { session, from: at, maxTokens: PART_TOKENS });
    yield part;
    if (part.range.to <= at) return;
    at = part.range.to;
  }
}

/** Of one read; the executor bounds it further. */
const PART_TOKENS = 65_536;
