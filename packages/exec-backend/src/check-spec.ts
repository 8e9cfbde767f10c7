import { isAbsolute } from "node:path";
import { StartError } from "./errors.js";
import type { ProcessSpec } from "./exec-backend.js";
import { MAX_ARGUMENT_BYTES } from "./limits.js";

/** Validates what does not depend on the host: strings, sizes, an absolute directory. @throws StartError */
export function checkStrings(spec: ProcessSpec): void {
  if (spec.argv.length === 0) throw new StartError("empty_argv", "argv must not be empty");
  if (spec.argv[0] === "") throw new StartError("empty_argv", "argv[0] must name a program, got an empty string");
  for (const text of spec.argv) {
    if (text.includes("\0")) throw new StartError("nul_byte", "argv contains a NUL byte");
    const size = Buffer.byteLength(text);
    // MAX_ARG_STRLEN of Linux bounds each string; the sum is left to the kernel, whose limit follows the stack size.
    if (process.platform === "linux" && size >= MAX_ARGUMENT_BYTES) {
      throw new StartError("too_large", `an argument has ${size} bytes; the limit is ${MAX_ARGUMENT_BYTES - 1} bytes`);
    }
  }
  for (const [name, value] of Object.entries(spec.env)) {
    if (name === "" || name.includes("=") || name.includes("\0") || value.includes("\0")) {
      throw new StartError("nul_byte", `environment variable ${JSON.stringify(name)} is not valid`);
    }
  }
  if (!isAbsolute(spec.cwd)) {
    throw new StartError("cwd_not_absolute", `working directory \`${spec.cwd}\` is not an absolute path`);
  }
  if (spec.cwd.includes("\0")) throw new StartError("nul_byte", "working directory contains a NUL byte");
}
