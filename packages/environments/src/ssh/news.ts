import type { Readable } from "node:stream";
import { type Clock, systemClock } from "@codex/clock";
import { LAST_WORDS_BYTES, MAX_NEWS_BYTES, MAX_NOISE_BYTES } from "../limits.js";

/** A line of the remote side: a word, and what belongs to it. */
export interface News {
  readonly word: string;
  readonly text: string;
}

/** Word for the end of the stream; the text is the end of what was skipped. */
export const ENDED = "";

/** No news came, without the name of the host. */
export class NewsError extends Error {
  override readonly name = "NewsError";
  constructor(
    readonly code: "timeout" | "handshake_failed",
    message: string,
  ) {
    super(message);
  }
}

/** How to wait for news. */
export interface NewsOptions {
  mark: string;
  signal: AbortSignal;
  timeoutMs: number;
  clock?: Pick<Clock, "after"> | undefined;
}

/**
 * Reads up to the end of the next line that begins with the mark; what the startup files of a shell print before it is skipped.
 * Nothing after it is taken.
 * @throws NewsError, or the reason of `signal`
 */
export function readNews(
  input: Readable,
  { mark, signal, timeoutMs, clock = systemClock }: NewsOptions,
): Promise<News> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const settle = (act: () => void) => {
      cancel();
      input.off("readable", onReadable).off("end", onEnd).off("close", onEnd);
      signal.removeEventListener("abort", onAbort);
      act();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    const onEnd = () => settle(() => resolve({ word: ENDED, text: bytes.subarray(-LAST_WORDS_BYTES).toString() }));
    const onReadable = () => {
      for (let chunk: Buffer | null = input.read(); chunk !== null; chunk = input.read()) {
        bytes = Buffer.concat([bytes, chunk]);
        const found = findLine(bytes, mark);
        if (found !== undefined) {
          if (found.end < bytes.length) input.unshift(bytes.subarray(found.end));
          return settle(() => resolve(found.news));
        }
        if (bytes.length > MAX_NOISE_BYTES) return settle(() => reject(tooMuch()));
      }
    };
    const cancel = clock.after(timeoutMs, () =>
      settle(() => reject(new NewsError("timeout", `no answer within ${timeoutMs} ms`))),
    );
    input.on("readable", onReadable).once("end", onEnd).once("close", onEnd);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    else if (input.readableEnded || input.destroyed) onEnd();
  });
}

function findLine(bytes: Buffer, mark: string): { news: News; end: number } | undefined {
  const start = bytes.indexOf(`\n${mark} `);
  const end = start < 0 ? -1 : bytes.indexOf("\n", start + 1);
  if (end < 0) return undefined;
  const line = bytes.toString("utf8", start + mark.length + 2, Math.min(end, start + MAX_NEWS_BYTES));
  const [, word = "", text = ""] = /^(\S*) ?(.*)$/s.exec(line) ?? [];
  return { news: { word, text }, end: end + 1 };
}

const tooMuch = (): NewsError =>
  new NewsError("handshake_failed", `the shell printed more than ${MAX_NOISE_BYTES} bytes before the command ran`);
