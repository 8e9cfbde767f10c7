import { CommandError } from "@codex/servers";
import { EXIT } from "./foreground/index.js";

export { CommandError, EXIT };
