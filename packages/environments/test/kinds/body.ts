import { describe } from "vitest";
import { describeBackend } from "../../../exec-server/test/backend/body.js";
import { describeFiles } from "../../../exec-server-client/test/remote/file-calls.js";
import { describeHttp } from "../../../exec-server-client/test/remote/http-calls.js";
import type { Environment } from "../../src/index.js";
import { describeCuts } from "./cuts.js";

/** An environment whose host shares its file system and its loopback addresses with the test. */
export interface OpenedEnvironment {
  environment: Environment;
  /** Drops its current connection without notice to either side; its session can be resumed. Absent: it has no connection. */
  cut?(): void;
  /** Ends the environment and its peer. */
  close(): Promise<void>;
}

/** One way to reach an environment. */
export interface Kind {
  open(): Promise<OpenedEnvironment>;
  /** Codex 0.169.0 cannot do all that our servers can. Default true. */
  extended?: boolean;
  /** Default true. */
  hasConnection?: boolean;
}

/** The contract of every kind of environment: processes, files, HTTP, and lost connections. */
export function describeKind(name: string, { open, extended = true, hasConnection = true }: Kind): void {
  describe(name, { timeout: 60_000 }, () => {
    describeBackend("processes", {
      extended,
      async open() {
        const { environment, close } = await open();
        return { backend: environment.backend, close };
      },
    });
    describeFiles("files", async () => {
      const { environment, close } = await open();
      return { files: environment.files, close };
    });
    describeHttp("HTTP", async () => {
      const { environment, close } = await open();
      return { http: environment.http, probe: () => environment.info(), close };
    });
    describe.skipIf(!hasConnection)(
      `a connection that is cut${hasConnection ? "" : ": skipped, there is none"}`,
      () => {
        describeCuts(open);
      },
    );
  });
}
