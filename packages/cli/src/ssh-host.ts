import { isatty } from "node:tty";
import { createSshLink, type EnvironmentLink, SSH_RECOVERY_MS, type SshUrl } from "@codex/environments";
import { ExecServerClient, type LinkOptions } from "@codex/exec-server-client";
import { say } from "./notice.js";
import { createServerBundle } from "./server-bundle.js";

/** A link to this command's background server on a host, to which it is uploaded. At a terminal ssh may prompt, and progress is shown. */
export function createOwnSshLink(address: SshUrl, connectTimeoutMs?: number): EnvironmentLink {
  const showsProgress = isatty(STDERR);
  return createSshLink({
    address,
    connectTimeoutMs,
    bundle: () => createServerBundle(),
    isInteractive: isatty(STDIN) && showsProgress,
    ...(showsProgress ? { onProgress: say } : {}),
  });
}

const STDIN = 0;
const STDERR = 2;

/** Connects to that server. The client owns the link. @throws Error saying why there is none, and what to do */
export function connectOverSsh(address: SshUrl, options: LinkOptions): Promise<ExecServerClient> {
  const link = createOwnSshLink(address);
  const connector = {
    canReopen: true,
    open: async (signal: AbortSignal) => (await link.open(signal)).channel,
    close: async () => link.close?.(),
  };
  return ExecServerClient.connect(connector, { recoveryWindowMs: SSH_RECOVERY_MS, ...options });
}
