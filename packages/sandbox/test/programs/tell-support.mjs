// Prints what sandbox this host has.
import { createCommandSandbox } from "@codex/sandbox";

console.log(JSON.stringify(await createCommandSandbox().getSupport()));
