/** A certificate and its key. */
export interface TlsIdentity {
  /** PEM; the certificate first, then its chain of issuers. */
  cert: string | Uint8Array;
  /** PEM. */
  key: string | Uint8Array;
}

/** What a listener identifies itself with. A function is asked for each connection: what it returns counts for that and later ones. */
export type TlsSource = TlsIdentity | (() => TlsIdentity);

/** Options of a TLS server with that identity as it is now: TLS 1.2 and later. */
export function toTlsOptions(tls: TlsSource): { cert: string | Buffer; key: string | Buffer; minVersion: "TLSv1.2" } {
  const { cert, key } = typeof tls === "function" ? tls() : tls;
  return { cert: asPem(cert), key: asPem(key), minVersion: "TLSv1.2" };
}

const asPem = (text: string | Uint8Array): string | Buffer => (typeof text === "string" ? text : Buffer.from(text));

/** The part of a TLS server that a change of its identity needs. */
interface TlsServer {
  prependListener(event: "connection", listener: () => void): unknown;
  setSecureContext(options: ReturnType<typeof toTlsOptions>): void;
}

/**
 * Lets a server that was created with `toTlsOptions` follow its source. Connections that are open stay as they are. While the source throws,
 * or has what cannot be used, the former identity counts.
 */
export function followTlsSource(server: TlsServer, tls: TlsSource): void {
  if (typeof tls !== "function") return;
  let current = tls();
  // Before the server's own listener, which begins the handshake.
  server.prependListener("connection", () => {
    try {
      const next = tls();
      if (next === current) return;
      server.setSecureContext(toTlsOptions(next));
      current = next;
    } catch {
      // The former one is still there.
    }
  });
}
