import { HttpFailure } from "../http-failure.js";

/** A registry request that failed. */
export class RegistryError extends HttpFailure {
  override readonly name = "RegistryError";
}
