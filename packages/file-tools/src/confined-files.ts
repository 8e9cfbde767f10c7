import type { AgentFiles } from "./agent-files.js";

/** Wraps files so that every call carries a sandbox. */
export function confineFiles(files: AgentFiles, sandbox: unknown): AgentFiles {
  if (sandbox === undefined || sandbox === null) return files;
  return {
    readFile: (path, options) => files.readFile(path, { ...options, sandbox }),
    writeFile: (path, bytes, options) => files.writeFile(path, bytes, { ...options, sandbox }),
    createDirectory: (path, options) => files.createDirectory(path, { ...options, sandbox }),
    getMetadata: (path, options) => files.getMetadata(path, { ...options, sandbox }),
    canonicalize: (path, options) => files.canonicalize(path, { ...options, sandbox }),
    remove: (path, options) => files.remove(path, { ...options, sandbox }),
    copy: (from, to, options) => files.copy(from, to, { ...options, sandbox }),
    walk: (path, options) => files.walk(path, options, sandbox),
  };
}
