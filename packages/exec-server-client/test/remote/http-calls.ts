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
    /** Paths of the exchanges that were begun, and of those that the host of the requests has ended early. */
    const begun: string[] = [];
    const ended: string[] = [];
    const web = createServer((request, response) => {
      const { url = "" } = request;
      begun.push(url);
      response.on("close", () => {
        if (!response.writableFinished) ended.push(url);
      });
      if (url.startsWith("/silent")) return;
      if (url.startsWith("/endless")) {
        const push = () => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384, "x")));
        };
        response.on("drain", push);
        push();
        return;
      }
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
      web.closeAllConnections();
      await new Promise((resolve) => web.close(resolve));
    });

    it("requests over HTTP", async () => {
      const response = await opened.http.request({ method: "POST", url: site, body: Buffer.from("bytes") });
      expect([response.status, response.body.toString()]).toEqual([200, "bytes!"]);
      expect(response.headers).toContainEqual({ name: "x-method", value: "POST" });
      expect((await opened.http.request({ url: `${site}/moved`, redirectPolicy: "stop" })).status).toBe(302);
      await expect(opened.http.request({ url: "ftp://x" })).rejects.toMatchObject({ name: "RpcError", code: -32602 });
    });

    it("sends nothing for a signal that has aborted", async () => {
      const reason = new Error("stopped by the test");
      const request = { url: `${site}/silent-never`, signal: AbortSignal.abort(reason) };
      await expect(opened.http.request(request)).rejects.toBe(reason);
      await expect(opened.http.stream(request)).rejects.toBe(reason);
      await opened.probe();
      expect(begun).not.toContain("/silent-never");
    });

    it.each(["request", "stream"] as const)("ends a %s that is aborted before its response", async (kind) => {
      const path = `/silent-${kind}`;
      const abort = new AbortController();
      const reason = new Error("stopped by the test");
      const exchange = opened.http[kind]({ url: site + path, signal: abort.signal });
      await expect.poll(() => begun).toContain(path);
      abort.abort(reason);
      await expect(exchange).rejects.toBe(reason);
      await expect.poll(() => ended).toContain(path);
      await opened.probe();
    });

    it("ends an exchange that is aborted while its body is read", async () => {
      const abort = new AbortController();
      const reason = new Error("stopped by the test");
      const { body } = await opened.http.stream({ url: `${site}/endless-read`, signal: abort.signal });
      const reading = (async () => {
        for await (const _ of body) if (!abort.signal.aborted) abort.abort(reason);
      })();
      await expect(reading).rejects.toBe(reason);
      await expect.poll(() => ended).toContain("/endless-read");
      await opened.probe();
    });

    it("ends an exchange with a signal whose reader stops early", async () => {
      const { signal } = new AbortController();
      const { body } = await opened.http.stream({ url: `${site}/endless-left`, signal });
      for await (const _ of body) break;
      await expect.poll(() => ended).toContain("/endless-left");
      await opened.probe();
    });

    it("ends only what is aborted of many exchanges", async () => {
      const abort = new AbortController();
      const { signal } = new AbortController();
      const kept = Array.from({ length: 10 }, () => opened.http.request({ url: site, signal }));
      const dropped = Array.from({ length: 10 }, (_, at) =>
        opened.http.request({ url: `${site}/silent-many-${at}`, signal: abort.signal }),
      );
      const settled = Promise.allSettled(dropped);
      await expect.poll(() => begun.filter((path) => path.startsWith("/silent-many"))).toHaveLength(10);
      abort.abort();
      for (const { status, body } of await Promise.all(kept)) expect([status, body.toString()]).toEqual([200, "!"]);
      expect(await settled).toEqual(dropped.map(() => ({ status: "rejected", reason: abort.signal.reason })));
      await expect.poll(() => ended.filter((path) => path.startsWith("/silent-many"))).toHaveLength(10);
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
