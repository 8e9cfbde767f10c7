import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";

/** A page that a listener serves over plain HTTP. */
export interface Page {
  contentType: string;
  body: string;
}

export interface Refusal {
  /** HTTP status. */
  status: number;
  message: string;
}

/** Responds to a request for a page. Never rejects. @param check returns the reason to refuse, if any */
export async function answerPage(
  { method }: IncomingMessage,
  response: ServerResponse,
  render: () => Page,
  check: () => Promise<Refusal | undefined>,
): Promise<void> {
  const refused = await check();
  if (refused !== undefined) return answer(response, refused.status, TEXT, refused.message);
  if (method !== "GET" && method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return answer(response, 405, TEXT, "");
  }
  try {
    const { contentType, body } = render();
    answer(response, 200, contentType, body);
  } catch {
    answer(response, 500, TEXT, "the page could not be rendered");
  }
}

function answer(response: ServerResponse, status: number, contentType: string, body: string): void {
  const bytes = Buffer.from(body);
  const headers = { "content-type": contentType, "content-length": bytes.length, "cache-control": "no-store" };
  response.writeHead(status, headers).end(bytes);
}

const TEXT = "text/plain; charset=utf-8";

/** Whether a `Host` header is a name other than `localhost`, not an address. */
export function isNamedHost(host: string | undefined): boolean {
  const name = (host ?? "").replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  return isIP(name) === 0 && name.toLowerCase() !== "localhost";
}
