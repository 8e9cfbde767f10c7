import { cutStart } from "@codex/text";
import { QUOTED_STDERR_CHARACTERS, STDERR_TAIL_BYTES } from "../limits.js";

/** The last bytes that a server wrote to stderr. */
export class StderrTail {
  #bytes = Buffer.alloc(0);

  add(bytes: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]).subarray(-STDERR_TAIL_BYTES);
  }

  get text(): string {
    return this.#bytes.toString("utf8");
  }

  /** The end of it on one line, without control characters, for an error; may be empty. */
  quote(): string {
    return cutStart(this.text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim(), QUOTED_STDERR_CHARACTERS);
  }
}
