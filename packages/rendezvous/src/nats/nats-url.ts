/** Addresses of NATS servers, and the rendezvous that a node belongs to. */
export interface NatsAddress {
  /** Each `HOST:PORT`. */
  servers: string[];
  /** Name of the rendezvous. */
  name: string;
  isTls: boolean;
  user?: string;
  pass?: string;
  token?: string;
}

const DEFAULT_NAME = "codex-rendezvous";

/**
 * Parses `nats://[USER:PASSWORD@]HOST[:PORT][/NAME]` or `tls://…`, several separated by commas. User, password and name are those of the first; a
 * user without a password is a token.
 * @throws Error, without the URL, which may contain a password
 */
export function readNatsUrl(text: string): NatsAddress {
  const urls = text.split(",").map((part) => {
    const trimmed = part.trim();
    const hasScheme = /^(?:nats|tls):\/\/[^/]/.test(trimmed);
    if (!hasScheme || !URL.canParse(trimmed)) throw invalid();
    return new URL(trimmed);
  });
  const [first] = urls;
  if (first === undefined || first.search !== "" || first.hash !== "") throw invalid();
  const name = first.pathname.replace(/^\//, "") || DEFAULT_NAME;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw invalid();
  const [user, pass] = [decodeURIComponent(first.username), decodeURIComponent(first.password)];
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || "4222"}`),
    name,
    isTls: first.protocol === "tls:",
    ...(user === "" ? {} : pass === "" ? { token: user } : { user, pass }),
  };
}

const invalid = () =>
  new Error("expected nats://[USER:PASSWORD@]HOST[:PORT][/NAME], or tls://, several separated by commas");
