/** A response body. Leaving its iteration cancels the request, as `cancel` does. */
export interface ModelBody extends AsyncIterable<Uint8Array> {
  cancel(): Promise<void>;
}

/** The subset of `Response` used here. */
export interface ModelResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly body: ModelBody | null;
}

/**
 * The subset of `fetch` used here: resolves when the response headers are received. Rejects when the connection fails or the
 * signal aborts; redirects are not followed.
 */
export type ModelFetch = (
  url: string,
  init: {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: Uint8Array<ArrayBuffer>;
    /** The same bytes in parts, for implementations that can send them one after the other: `body` is joined from them when it is first read. */
    readonly pieces?: readonly Uint8Array<ArrayBuffer>[];
    readonly signal: AbortSignal;
    readonly redirect: "manual";
  },
) => Promise<ModelResponse>;
