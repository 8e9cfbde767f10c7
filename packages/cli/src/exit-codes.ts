import { CommandError } from "@codex/servers";
import { EXIT } from "./foreground/exit-codes.js";

export { CommandError, EXIT };
