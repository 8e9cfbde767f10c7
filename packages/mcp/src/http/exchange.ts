/**
 * Calls `onEnd` once when a response has been read completely or its client has disconnected. A disconnect also cancels the source of
 * the body at once, not with its next chunk.
 */
export function followResponse(response: Response, signal: AbortSignal, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd();
    return response;
  }
  signal.addEventListener("abort", onEnd, { once: true });
  const body = response.body.pipeThrough(
    new TransformStream({
      flush() {
        signal.removeEventListener("abort", onEnd);
        onEnd();
      },
    }),
    { signal },
  );
  if (signal.aborted) onEnd();
  return new Response(body, response);
}

/** A refusal in the form that clients of the protocol expect. */
export const refuse = (status: number, message: string, code = -32_000): Response =>
  Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
