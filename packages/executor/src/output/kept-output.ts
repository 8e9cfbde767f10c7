/** The output that a result covers, retained until the result was received. */
export interface KeptOutput {
  /** Bytes in memory. */
  readonly bytes: number;
  /** Sends the live output of the call again, unless it was received. Never rejects. */
  replay(): Promise<void>;
  /** The result will never be received: the next one covers the same output. */
  undo(): void;
  /** The result was received. */
  release(): void;
}
