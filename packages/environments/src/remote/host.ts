import type { Channel } from "@codex/channel";
import type { ToollessHost } from "@codex/exec-backend";

/**
 * Starts an executor in this process whose programs run on that host. Closing the channel ends the executor. Injected, as this
 * package does not depend on `@codex/executor`, whose `createHostTools` creates one.
 */
export type HostTools = (host: ToollessHost) => Channel;
