import { errnoOf, StartError } from "@codex/exec-backend";
import { messageOf } from "@codex/values";

/** The StartError for a system error. */
export function startError(cause: unknown): StartError {
  const detail = START_FAILURES[errnoOf(cause) ?? ""] ?? messageOf(cause);
  return new StartError("os_error", `the process could not be started: ${detail}`, { cause });
}

const START_FAILURES: Readonly<Record<string, string>> = {
  E2BIG: "arguments and environment together are larger than the host allows (E2BIG)",
  EAGAIN: "the host's limit of processes is reached (EAGAIN)",
  EMFILE: "the limit of open files is reached (EMFILE)",
  ENOMEM: "out of memory (ENOMEM)",
  ETXTBSY: "the program is being written to (ETXTBSY)",
  ENOEXEC: "the format of the program is not supported (ENOEXEC)",
  ENOENT: "the program or its interpreter does not exist (ENOENT)",
  EACCES: "the program may not be executed (EACCES)",
};
