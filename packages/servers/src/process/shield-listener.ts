import { shieldProcess } from "@codex/native";

/**
 * Shields a process that listens, before it starts a program: programs of other processes could read its tokens. Call it once
 * the address is printed, so that loading the bindings of the C library does not delay that. Never throws: a process without
 * native code stays unshielded.
 */
export function shieldListener(): void {
  setImmediate(() => {
    try {
      shieldProcess();
    } catch {
      // It stays unshielded.
    }
  });
}
