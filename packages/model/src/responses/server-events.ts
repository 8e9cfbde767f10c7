import { createParser } from "eventsource-parser";
import type { ModelLimits } from "../limits.js";
import { ModelError } from "../model-port.js";

/**
 * Yields the `data` of each server-sent event of a body. Comments, event names and unknown fields are ignored; `onBytes` is
 * called for every chunk. Reads on demand, so that memory stays bounded; leaving the loop cancels the request.
 * @throws ModelError `too_large` for an event or a body over its limit
 */
export async function* readServerEvents(
  body: AsyncIterable<Uint8Array>,
  limits: Pick<ModelLimits, "eventChars" | "responseBytes">,
  onBytes: () => void,
): AsyncGenerator<string, void, void> {
  const ready: string[] = [];
  let tooLarge = false;
  const parser = createParser({
    maxBufferSize: limits.eventChars,
    onEvent: ({ data }) => {
      tooLarge ||= data.length > limits.eventChars;
      if (!tooLarge) ready.push(data);
    },
    onError: ({ type }) => {
      tooLarge ||= type === "max-buffer-size-exceeded";
    },
  });
  const decoder = new TextDecoder();
  let total = 0;
  const feed = (text: string): string[] => {
    parser.feed(text);
    return ready.splice(0);
  };
  for await (const bytes of body) {
    onBytes();
    total += bytes.length;
    if (total > limits.responseBytes) throw tooMuch(`the response is over ${limits.responseBytes} bytes`);
    yield* feed(decoder.decode(bytes, { stream: true }));
    if (tooLarge) throw tooMuch(`an event is over ${limits.eventChars} characters`);
  }
  onBytes();
  // The last event may lack its empty line; an incomplete one is invalid JSON and is ignored.
  yield* feed(`${decoder.decode()}\n\n`);
  if (tooLarge) throw tooMuch(`an event is over ${limits.eventChars} characters`);
}

const tooMuch = (message: string) => new ModelError("too_large", message, { retry: "never" });
