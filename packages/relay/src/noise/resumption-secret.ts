/** What both ends of a stream derive from its first handshake, for the handshakes with which it is resumed. */
export interface Resumption {
  /** Identifies the stream in a resumption handshake; not secret. 16 bytes. */
  id: Buffer;
  /** The pre-shared key. 32 bytes. */
  secret: Buffer;
}

export const RESUMPTION_ID_BYTES = 16;
