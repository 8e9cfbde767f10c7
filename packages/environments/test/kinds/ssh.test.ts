import { fileURLToPath } from "node:url";
import { describe } from "vitest";
import { createServerBundle } from "../../../cli/src/server-bundle.js";
import { createRemoteEnvironment, createSshLink } from "../../src/index.js";
import { NO_SSHD, openSshd } from "../ssh/sshd.js";
import { describeKind } from "./body.js";

const bundle = createServerBundle(fileURLToPath(new URL("../../../cli/dist/codex.js", import.meta.url)));

describe.skipIf(NO_SSHD !== "")(`over ssh${NO_SSHD}`, () => {
  describeKind("an environment on a host that ssh reaches", {
    async open() {
      const sshd = await openSshd();
      const link = createSshLink({ address: { host: "127.0.0.1", port: sshd.port }, ssh: sshd.ssh, bundle });
      const environment = createRemoteEnvironment({ id: "remote", kind: "ssh", link });
      return {
        environment,
        cut() {
          for (const pid of sshd.listClients()) process.kill(pid, "SIGKILL");
        },
        close: () => environment.close().then(sshd.close),
      };
    },
  });
});
