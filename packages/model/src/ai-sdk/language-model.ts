/**
 * The subset of the AI SDK's `LanguageModelV3` used here. It is structural, so that models of any AI SDK 6 provider can be
 * passed without a dependency on the SDK.
 */
export interface LanguageModel {
  readonly specificationVersion: "v3";
  readonly provider: string;
  readonly modelId: string;
  doStream(options: LanguageModelCall): PromiseLike<{ readonly stream: ReadableStream<LanguageModelPart> }>;
}

/** Options of `doStream`. */
export interface LanguageModelCall {
  prompt: PromptMessage[];
  tools?: LanguageModelTool[];
  toolChoice?: { type: "auto" };
  responseFormat?: { type: "json"; schema: Record<string, unknown>; name: string };
  abortSignal?: AbortSignal;
  providerOptions?: Record<string, Metadata>;
}

/** Provider-specific data, by provider name. */
export type Metadata = Record<string, JsonValue>;
type JsonValue = null | string | number | boolean | { [key: string]: JsonValue | undefined } | JsonValue[];

/** A tool that takes a JSON object. */
export interface LanguageModelTool {
  type: "function";
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

type Provided = { providerOptions?: Record<string, Metadata> };
/** Text of a prompt. */
export type TextPart = { type: "text"; text: string } & Provided;
/** A file of a prompt; `data` is base64 or a URL. */
export type FilePart = { type: "file"; mediaType: string; data: string | URL };
/** Part of an assistant message. */
export type AssistantPart =
  | TextPart
  | ({ type: "reasoning"; text: string } & Provided)
  | ({ type: "tool-call"; toolCallId: string; toolName: string; input: unknown } & Provided);
/** Result of a tool call. */
export interface ToolResultPart {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output:
    | { type: "text"; value: string }
    | {
        type: "content";
        value: ResultContent[];
      };
}

/** Part of a tool result; `data` is base64. */
export type ResultContent = { type: "text"; text: string } | { type: "image-data"; data: string; mediaType: string };

/** A message of a prompt. */
export type PromptMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: (TextPart | FilePart)[] }
  | { role: "assistant"; content: AssistantPart[] }
  | { role: "tool"; content: ToolResultPart[] };

/** A part of the stream, with the members used here; unknown types are ignored. */
export interface LanguageModelPart {
  readonly type: string;
  readonly id?: unknown;
  readonly delta?: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly providerExecuted?: unknown;
  readonly providerMetadata?: unknown;
  readonly usage?: unknown;
  readonly finishReason?: unknown;
  readonly error?: unknown;
}
