/** The body of an answer. Leaving its iteration ends the request, as `cancel` does. */
export interface ModelBody extends AsyncIterable<Uint8Array> {
  cancel(): Promise<void>;
}

/** What came of a request. */
export interface ModelResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly body: ModelBody | null;
}

/**
 * Sends a request and resolves with its answer once the headers are there: `fetch`, or what can do this much of it.
 * Rejects when the connection fails, or when the signal aborts; redirections are not followed.
 */
export type ModelFetch = (
  url: string,
  init: {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: Uint8Array<ArrayBuffer>;
    readonly signal: AbortSignal;
    readonly redirect: "manual";
  },
) => Promise<ModelResponse>;
