import { StringDecoder } from "node:string_decoder";
import { cutStart, type SecretFilter } from "@codex/values";
import { QUOTED_STDERR_CHARACTERS, STDERR_TAIL_LENGTH } from "../limits.js";

/** The end of what a server wrote to stderr, without secrets. */
export class StderrTail {
  readonly #filter: SecretFilter;
  readonly #decoder = new StringDecoder("utf8");
  /** Longer than what is shown by the reach of the filter. */
  #end = "";

  constructor(filter: SecretFilter) {
    this.#filter = filter;
  }

  add(bytes: Uint8Array): void {
    const text = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.#end = (this.#end + text).slice(-(STDERR_TAIL_LENGTH + this.#filter.reach));
  }

  get text(): string {
    return this.#filter.hideTail(this.#end, STDERR_TAIL_LENGTH);
  }

  /** The end of it on one line, without control characters, for an error; may be empty. */
  quote(): string {
    return cutStart(this.text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim(), QUOTED_STDERR_CHARACTERS);
  }
}
