import { type Clock, waitUnlessAborted } from "@codex/clock";
import { defined } from "@codex/values";
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { MAX_QUESTION_BYTES } from "../limits.js";
import { cut, toSentence, withoutControls } from "../tools/text.js";

/** What a server wants to know from the person. All texts are the server's. */
export interface McpQuestion {
  /** Name of the server. */
  server: string;
  message: string;
  /** A page that the person is asked to open, instead of fields to fill in. What is entered there is not seen here. */
  url?: string;
  /** What to fill in; none for a mere confirmation. */
  fields: readonly McpField[];
}

/** A value that a server asks for. */
export interface McpField {
  name: string;
  title: string;
  description?: string;
  kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  /** Of `choice` and `choices`, of which several may be chosen. */
  options: readonly { value: string; title: string }[];
  isRequired: boolean;
  /** Taken if the person enters nothing. */
  default?: McpValue;
}

/** A value that a person has entered. */
export type McpValue = string | number | boolean | string[];

/** What the person has answered. `decline`: no. `cancel`: no answer. */
export type McpAnswer =
  | { action: "accept"; content?: Record<string, McpValue> }
  | { action: "decline" }
  | { action: "cancel" };

/** Passes a question of a server to the person. Rejects if nobody can be asked: the server is then told that it was canceled. */
export type AskPerson = (question: McpQuestion, options: { signal: AbortSignal }) => Promise<McpAnswer>;

/** Time limits of requests that stand still while a person is asked. */
export class RequestLimits {
  readonly #clock: Pick<Clock, "after" | "now">;
  readonly #running = new Set<{ pause(): void; resume(): void }>();
  #questions = 0;

  constructor(clock: Pick<Clock, "after" | "now">) {
    this.#clock = clock;
  }

  /** Calls `onEnd` after `ms` milliseconds in which nobody was asked. Returns a function that ends it. */
  start(ms: number, onEnd: () => void): () => void {
    let left = ms;
    let began = 0;
    let cancel = () => {};
    const limit = {
      pause: () => {
        cancel();
        left -= this.#clock.now() - began;
      },
      resume: () => {
        began = this.#clock.now();
        cancel = this.#clock.after(Math.max(0, left), onEnd);
      },
    };
    this.#running.add(limit);
    if (this.#questions === 0) limit.resume();
    return () => {
      this.#running.delete(limit);
      cancel();
    };
  }

  async whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    this.#questions += 1;
    if (this.#questions === 1) for (const limit of this.#running) limit.pause();
    try {
      return await ask();
    } finally {
      this.#questions -= 1;
      if (this.#questions === 0) for (const limit of this.#running) limit.resume();
    }
  }
}

/** Asks the person what a server wants to know. */
export async function answerQuestion(
  server: string,
  { params }: ElicitRequest,
  ask: AskPerson,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const message = clean(params.message);
  const question: McpQuestion =
    params.mode === "url"
      ? { server, message, url: toSentence(params.url, MAX_QUESTION_BYTES), fields: [] }
      : { server, message, fields: readFields(params.requestedSchema) };
  const answer = await waitUnlessAborted(signal, ask(question, { signal })).catch(() => undefined);
  if (answer === undefined) return { action: "cancel" };
  return answer.action === "accept" && params.mode !== "url"
    ? { action: "accept", content: answer.content ?? {} }
    : { action: answer.action };
}

const clean = (text: string): string => cut(withoutControls(text), MAX_QUESTION_BYTES);

type FormSchema = Extract<ElicitRequest["params"], { requestedSchema: unknown }>["requestedSchema"];

function readFields({ properties, required = [] }: FormSchema): McpField[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { title = name, description } = schema;
    return {
      name,
      title: toSentence(title, MAX_QUESTION_BYTES),
      ...(description === undefined ? {} : { description: clean(description) }),
      kind: kindOf(schema),
      options: optionsOf(schema),
      isRequired: required.includes(name),
      ...defined({ default: schema.default }),
    };
  });
}

type FieldSchema = FormSchema["properties"][string];

function kindOf(schema: FieldSchema): McpField["kind"] {
  switch (schema.type) {
    case "boolean":
    case "number":
    case "integer":
      return schema.type;
    case "array":
      return "choices";
    case "string":
      return "enum" in schema || "oneOf" in schema ? "choice" : "text";
  }
}

function optionsOf(schema: FieldSchema): McpField["options"] {
  const from = schema.type === "array" ? schema.items : schema;
  if ("oneOf" in from || "anyOf" in from) {
    const listed = "oneOf" in from ? from.oneOf : from.anyOf;
    return listed.map(({ const: value, title }) => ({ value, title: toSentence(title, MAX_QUESTION_BYTES) }));
  }
  if (!("enum" in from)) return [];
  const names = "enumNames" in from && Array.isArray(from.enumNames) ? from.enumNames.map(String) : [];
  return from.enum.map((value, at) => ({ value, title: toSentence(names[at] ?? value, MAX_QUESTION_BYTES) }));
}
