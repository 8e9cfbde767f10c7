import { EXIT } from "./foreground/index.js";
import { CommandError } from "@codex/servers";

export { CommandError, EXIT };
