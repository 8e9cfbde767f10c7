import { StartError } from "../process/errors.js";
import type { SandboxableCommand, WrappedCommand } from "./command-sandbox.js";
import type { SandboxProfile } from "./profile.js";

export function wrapWithSeatbelt(_command: SandboxableCommand, _profile: SandboxProfile): WrappedCommand {
  throw new StartError("sandbox_unavailable", "the command was not run: this host cannot sandbox it yet");
}
