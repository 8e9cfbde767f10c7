/** What a peer, or something between, did that ends the stream. */
export class StreamViolation extends Error {
  override readonly name = "StreamViolation";
}
