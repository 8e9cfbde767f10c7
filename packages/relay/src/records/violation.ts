/** A violation, by the peer or something in between, that ends the stream. */
export class StreamViolation extends Error {
  override readonly name = "StreamViolation";
}
