/** A setting of the policy that cannot be used. The message names it, its value and what it may be. */
export class PolicyError extends Error {
  override readonly name = "PolicyError";
}
