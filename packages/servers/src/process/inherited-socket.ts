import { getSocketAddress, type SocketAddress } from "@codex/native";
import { messageOf } from "@codex/values";
import { CommandError, SERVER_EXIT } from "./command-error.js";
import { takeService } from "./service-manager.js";

/** A listening socket that a service manager has passed. */
export type InheritedSocket = SocketAddress & { fd: number };

/** The first descriptor of the sockets that a service manager passes, as in sd_listen_fds(3). */
const FIRST_SOCKET = 3;

/**
 * The listening socket that a service manager has passed, for `fd://` or, where there are several, `fd://NAME`; undefined for another
 * address.
 * @throws CommandError when there is no such socket
 */
export function findInheritedSocket(listen: string): InheritedSocket | undefined {
  const name = /^fd:\/\/(.*)$/s.exec(listen)?.[1];
  if (name === undefined) return undefined;
  const { sockets } = takeService();
  const fail = (why: string) => new CommandError(`--listen ${JSON.stringify(listen)}: ${why}`, SERVER_EXIT.usage);
  if (sockets.length === 0) {
    throw fail("no socket was passed: it is for a service with socket activation ($LISTEN_FDS and $LISTEN_PID)");
  }
  const known = sockets.map((each) => JSON.stringify(each)).join(", ");
  const [found, second] = sockets.flatMap((each, index) => (name === "" || each === name ? [index] : []));
  if (found === undefined) throw fail(`no such socket was passed; there are ${known}`);
  if (second !== undefined) throw fail(`more than one socket was passed (${known}); expected fd://NAME of one of them`);
  const fd = FIRST_SOCKET + found;
  try {
    return { ...getSocketAddress(fd), fd };
  } catch (error) {
    throw fail(messageOf(error));
  }
}
