import { ExecServerClient } from "@codex/exec-server-client";
import { toWireSandbox } from "@codex/exec-server-protocol";
import { confineFiles } from "@codex/file-tools";
import type { FileConnector } from "@codex/orchestrator";

/** Connects to the files served by an executor, for `connectFiles` of an orchestrator. A lost connection is opened again. */
export const connectFiles: FileConnector = async (open) => {
  const client = await ExecServerClient.connect({ canReopen: true, open });
  const { fileSystem: files } = client;
  const inSandbox = <Options extends { sandbox: Parameters<typeof toWireSandbox>[0] | null }>(options: Options) => ({
    ...options,
    sandbox: options.sandbox === null ? null : toWireSandbox(options.sandbox),
  });
  return {
    readFile: (path, options) => files.readFile(path, inSandbox(options)),
    writeFile: (path, bytes, options) => files.writeFile(path, bytes, inSandbox(options)),
    createDirectory: (path, options) => files.createDirectory(path, inSandbox(options)),
    getMetadata: (path, options) => files.getMetadata(path, inSandbox(options)),
    readDirectory: (path, options) => files.readDirectory(path, inSandbox(options)),
    remove: (path, options) => files.remove(path, inSandbox(options)),
    confine: (sandbox) => confineFiles(files, sandbox === null ? null : toWireSandbox(sandbox)),
    close: () => client.close(),
  };
};
