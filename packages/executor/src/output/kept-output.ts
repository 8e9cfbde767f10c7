/** The output that an answer covers, kept until the answer was received. */
export interface KeptOutput {
  /** Bytes in memory. */
  readonly bytes: number;
  /** Sends the live output of the call once more, as far as it was not received. Never rejects. */
  replay(): Promise<void>;
  /** The answer will never be received: the next one covers what it did. */
  undo(): void;
  /** The answer was received. */
  release(): void;
}
