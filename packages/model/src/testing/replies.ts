import { defined } from "@codex/values";
import type { Item } from "../items.js";
import { message } from "./items.js";

/** An event of the stream, as sent. */
export interface StreamEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The endpoint's reply to one request. */
export interface Reply {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Chunks of the body, in order; a number is a delay in milliseconds. */
  readonly body: Iterable<string | Uint8Array | number>;
  /** `end`: complete. `cut`: the connection breaks. `open`: it stays open and silent. Default `end`. */
  readonly ending?: "end" | "cut" | "open";
}

/** How a stream is written. */
export interface StreamForm {
  /** Default `\n`. */
  readonly lineEnd?: "\n" | "\r\n" | "\r";
  /** `event:` lines; default true. */
  readonly eventNames?: boolean;
  /** `data` over several lines; default false. */
  readonly splitData?: boolean;
}

/** Usage as reported by an endpoint. */
export const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 15,
} as const;

/** Options of {@link responseEvents}. */
export interface ResponseOptions {
  readonly id?: string;
  /** Null: no usage. */
  readonly usage?: object | null;
  readonly endTurn?: boolean;
  /** Characters per text delta; default 8, 0 for no deltas. */
  readonly deltaChars?: number;
}

/** The events of a response with these items, from `response.created` to `response.completed`. */
export function responseEvents(items: readonly Item[], options: ResponseOptions = {}): StreamEvent[] {
  const { id = "resp_1", usage = USAGE, endTurn, deltaChars = 8 } = options;
  const events: StreamEvent[] = [{ type: "response.created", response: { id } }];
  items.forEach((item, index) => {
    events.push({ type: "response.output_item.added", output_index: index, item });
    for (const delta of deltasOf(item, deltaChars)) events.push({ ...delta, output_index: index, item_id: item.id });
    events.push({ type: "response.output_item.done", output_index: index, item });
  });
  const end = endTurn === undefined ? {} : { end_turn: endTurn };
  events.push({ type: "response.completed", response: { id, ...(usage === null ? {} : { usage }), ...end } });
  return events;
}

function deltasOf(item: Item, chars: number): StreamEvent[] {
  const [type, part] =
    item.type === "message"
      ? ["response.output_text.delta", (item.content as { text?: string }[])[0]?.text]
      : ["response.reasoning_summary_text.delta", (item.summary as { text?: string }[] | undefined)?.[0]?.text];
  if (chars === 0 || part === undefined) return [];
  const pieces = part.match(new RegExp(`[^]{1,${chars}}`, "gu")) ?? [];
  return pieces.map((delta) => ({ type, delta }));
}

/** Renders an event as server-sent event. */
export function renderEvent(event: StreamEvent, form: StreamForm = {}): string {
  const { lineEnd = "\n", eventNames = true, splitData = false } = form;
  const json = splitData ? JSON.stringify(event, null, 1) : JSON.stringify(event);
  const lines = json.split("\n").map((line) => `data: ${line}`);
  return [...(eventNames ? [`event: ${event.type}`] : []), ...lines, "", ""].join(lineEnd);
}

/** A reply that streams events. */
export const stream = (events: readonly StreamEvent[], form: StreamForm & Pick<Reply, "ending"> = {}): Reply => ({
  headers: { "content-type": "text/event-stream" },
  body: events.map((event) => renderEvent(event, form)),
  ...defined({ ending: form.ending }),
});

/** A complete response with these items. */
export const respond = (...items: readonly Item[]): Reply => stream(responseEvents(items));

/** A complete response with one message. */
export const say = (text: string): Reply => respond(message(text));

/** A response whose connection breaks after a number of events. */
export const cutAfter = (events: number, ...items: readonly Item[]): Reply =>
  stream(responseEvents(items).slice(0, events), { ending: "cut" });

/** An error status; an object `body` is sent as JSON. */
export const fail = (
  status: number,
  body: object | string = "",
  headers: Readonly<Record<string, string>> = {},
): Reply => ({
  status,
  headers: { "content-type": typeof body === "string" ? "text/plain" : "application/json", ...headers },
  body: [typeof body === "string" ? body : JSON.stringify(body)],
});

/** A response that the endpoint ends as failed. */
export const failed = (code: string, text: string): Reply =>
  stream([{ type: "response.failed", response: { id: "resp_1", error: { code, message: text } } }]);

/** An incomplete response. */
export const incomplete = (reason: string, ...items: readonly Item[]): Reply =>
  stream([
    ...responseEvents(items).slice(0, -1),
    { type: "response.incomplete", response: { id: "resp_1", incomplete_details: { reason } } },
  ]);
