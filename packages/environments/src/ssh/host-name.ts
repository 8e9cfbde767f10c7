import type { SshUrl } from "../config/ssh-url.js";

/** Names a host in a message: `[USER@]HOST[:PORT]`. */
export const renderHost = ({ host, user, port }: SshUrl): string =>
  `${user === undefined ? "" : `${user}@`}${host.includes(":") ? `[${host}]` : host}${port === undefined ? "" : `:${port}`}`;
