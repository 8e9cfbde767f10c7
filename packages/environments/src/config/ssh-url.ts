import { defined } from "@codex/values";
/** The parts of `ssh://[USER@]HOST[:PORT][/DIRECTORY]`. */
export interface SshUrl {
  /** As passed to `ssh`: an alias of its configuration, a host name, or an address without brackets. */
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
  /** Absolute; a leading `~` is the remote home directory. */
  readonly cwd?: string;
}

/** The parts of an `ssh://` URL, or the rule that it violates. No part can become an option of `ssh`. */
export function readSshUrl(url: string): SshUrl | string {
  const expected = "expected ssh://[USER@]HOST[:PORT][/DIRECTORY]";
  const match =
    /^ssh:\/\/(?:([^@/?#:]*)(:[^@/?#]*)?@)?(\[[0-9A-Fa-f:.]+(?:%[\w.%-]+)?\]|[^@/?#:[\]]+)(?::(\d{1,5}))?(\/.*)?$/s.exec(
      url,
    );
  if (match === null) return expected;
  const [, user, password, host = "", port, path] = match;
  if (password !== undefined) return `${expected}, without a password: ssh asks for it, or its agent has a key`;
  const name = /^[A-Za-z0-9_.][A-Za-z0-9_.@+-]*$/;
  if (user !== undefined && !name.test(user)) return `${expected}; the user has a character that is not allowed`;
  const bare = host.startsWith("[") ? host.slice(1, -1).replace(/%25/, "%") : host;
  if (!host.startsWith("[") && !name.test(host)) return `${expected}; the host has a character that is not allowed`;
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) return `${expected}; a port is 1 to 65535`;
  const cwd = path === undefined || path === "/" ? undefined : decodePath(path);
  if (cwd === null) return `${expected}; the directory is not percent-encoded correctly`;
  return {
    host: bare,
    ...defined({ user, port: number }),
    ...(cwd === undefined ? {} : { cwd: cwd.replace(/^\/(?=~(\/|$))/, "") }),
  };
}

/** Null if it cannot be decoded or contains a character not allowed in paths. */
function decodePath(path: string): string | null {
  try {
    const decoded = decodeURIComponent(path);
    return decoded.includes("\0") ? null : decoded;
  } catch {
    return null;
  }
}
