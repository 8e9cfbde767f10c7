import { EXIT } from "@codex/foreground";
import { CommandError } from "@codex/servers";

export { CommandError, EXIT };
