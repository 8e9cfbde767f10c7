import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RemoteHttp } from "../../src/remote/remote-http.js";

/** HTTP from a host on which 127.0.0.1 is this one. */
export interface HttpUnderTest {
  http: Pick<RemoteHttp, keyof RemoteHttp>;
  /** Rejects once the connection does not answer any more. */
  probe(): Promise<unknown>;
  close(): Promise<void>;
}

/** What holds for the HTTP of every exec-server, however it is reached. */
export function describeHttp(name: string, open: () => Promise<HttpUnderTest>): void {
  describe(name, () => {
    let opened: HttpUnderTest;
    const web = createServer((request, response) => {
      const body: Buffer[] = [];
      request.on("data", (bytes: Buffer) => body.push(bytes));
      request.on("end", () => {
        response.setHeader("x-method", request.method ?? "");
        if (request.url === "/moved") response.writeHead(302, { location: "/" });
        response.end(
          request.url === "/long" ? Buffer.alloc(2_000_000, "z") : Buffer.concat([...body, Buffer.from("!")]),
        );
      });
    });
    let site: string;

    beforeAll(async () => {
      await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
      // Listening on TCP, so it is no path.
      site = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
      opened = await open();
    });
    afterAll(async () => {
      await opened?.close();
      await new Promise((resolve) => web.close(resolve));
    });

    it("requests over HTTP", async () => {
      const response = await opened.http.request({ method: "POST", url: site, body: Buffer.from("bytes") });
      expect([response.status, response.body.toString()]).toEqual([200, "bytes!"]);
      expect(response.headers).toContainEqual({ name: "x-method", value: "POST" });
      expect((await opened.http.request({ url: `${site}/moved`, redirectPolicy: "stop" })).status).toBe(302);
      await expect(opened.http.request({ url: "ftp://x" })).rejects.toMatchObject({ name: "RpcError", code: -32602 });
    });

    it("streams bodies, several at once, and drops bodies that are no longer read", async () => {
      const [whole, part] = await Promise.all([
        opened.http.stream({ url: `${site}/long` }),
        opened.http.stream({ url: `${site}/long` }),
      ]);
      let bytes = 0;
      for await (const piece of whole.body) bytes += piece.length;
      expect(bytes).toBe(2_000_000);
      for await (const piece of part.body) {
        expect(piece.length).toBeGreaterThan(0);
        break;
      }
      await opened.probe();
    });
  });
}
