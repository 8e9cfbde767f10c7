import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { toHostInfo, withDirectory } from "../../src/remote/remote-host.js";
import { describeFiles } from "./file-calls.js";
import { describeHttp } from "./http-calls.js";

/** File, HTTP and environment calls, over whatever server there is. */
export function describeHostCalls(name: string, listen: () => Promise<{ url: string; close(): Promise<void> }>): void {
  const connect = async () => {
    const server = await listen();
    const client = await ExecServerClient.connectWebSocket(server.url);
    return { client, close: () => client.close().then(server.close) };
  };

  describe(name, () => {
    let client: ExecServerClient;
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ client, close } = await connect());
    });
    afterAll(() => close());

    it("describes its host with native paths", async () => {
      const host = toHostInfo(await client.environment.info());
      const { os, arch, user, cwd, home, shell } = host;
      expect({ os, arch, user }).toEqual({ os: process.platform, arch: "", user: "" });
      expect([cwd, home, shell.path].filter((path) => !path.startsWith("/"))).toEqual([]);
      const directories = ["/srv", "~", "~/a", "a", "~b"].map((directory) => withDirectory(host, directory).cwd);
      expect(directories).toEqual(["/srv", home, join(home, "a"), join(home, "a"), join(home, "~b")]);
    });

    it("tells of its host", async () => {
      const info = await client.environment.info();
      expect(info.shell.path).toMatch(/^\//);
      expect(info).toEqual(client.environmentInfo);
    });

    describeFiles("files", async () => {
      const own = await connect();
      return { files: own.client.fileSystem, close: own.close };
    });

    describeHttp("HTTP", async () => {
      const own = await connect();
      return { http: own.client.http, probe: () => own.client.environment.status(), close: own.close };
    });
  });
}
