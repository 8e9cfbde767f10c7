import type { OutsideProfile } from "@codex/exec-gate";

/** Where a program runs, as the end of a sentence: `outside of the sandbox, without restriction`. */
export function describeOutside(profile: OutsideProfile): string {
  if (profile === "unrestricted") return "outside of the sandbox, without restriction";
  if (profile === "network") return "with the network, and otherwise as restricted as before";
  return `with write access to ${profile.write.join(", ")}, and otherwise as restricted as before`;
}
