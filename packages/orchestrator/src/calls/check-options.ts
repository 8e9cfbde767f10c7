import { OrchestratorError } from "../errors.js";
import type { CallToolOptions } from "./call-options.js";

/** @throws OrchestratorError `bad_option` */
export function checkOptions({ idempotencyKey, maxWindowMs, client }: CallToolOptions): void {
  if (idempotencyKey !== undefined && (idempotencyKey === "" || idempotencyKey.length > MAX_KEY_LENGTH)) {
    const expected = `expected 1 to ${MAX_KEY_LENGTH} characters`;
    throw new OrchestratorError("bad_option", `idempotencyKey has ${idempotencyKey.length} characters; ${expected}`);
  }
  if (client !== undefined && (client === "" || client.length > MAX_CLIENT_LENGTH)) {
    const expected = `expected 1 to ${MAX_CLIENT_LENGTH} characters`;
    throw new OrchestratorError("bad_option", `client has ${client.length} characters; ${expected}`);
  }
  if (maxWindowMs !== undefined && !(Number.isInteger(maxWindowMs) && maxWindowMs >= 0)) {
    throw new OrchestratorError("bad_option", `maxWindowMs is ${maxWindowMs}; expected whole milliseconds from 0`);
  }
}

/** Maximum length of an idempotency key, UTF-16 units. */
const MAX_KEY_LENGTH = 256;
/** Maximum length of the name of a client, UTF-16 units, as in the protocol. */
const MAX_CLIENT_LENGTH = 128;
