import { createHash } from "node:crypto";
import { createRemoteBackend, ExecServerClient, type RemoteProcess } from "@codex/exec-server-client";
import { type CuttingProxy, createCuttingProxy } from "@codex/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { ENV, joinBytes, untilGone, untilOutput } from "../../../process-host/test/support.js";

/** Cut connections must cost nothing: over a real server behind a proxy that breaks them at any byte. */
export function describeCuts(
  name: string,
  listen: () => Promise<{ url: string; close(): Promise<void> }>,
  { evicts = false }: { evicts?: boolean } = {},
): void {
  describe(name, () => {
    const closing: (() => Promise<void>)[] = [];
    let onInterrupted = () => {};
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
      onInterrupted = () => {};
    });

    async function open() {
      const server = await listen();
      closing.push(() => server.close());
      const proxy = await createCuttingProxy(server.url);
      closing.push(() => proxy.close());
      const client = await ExecServerClient.connectWebSocket(proxy.url, { onInterrupted: () => onInterrupted() });
      closing.push(() => client.close());
      const backend = createRemoteBackend(client);
      const run = (argv: string[], stdin: "null" | "open" = "null") =>
        backend.start({ argv, cwd: "/tmp", env: ENV, stdio: { kind: "pipe", stdin } });
      return { proxy, client, run };
    }

    it("loses no output and no exit, wherever the wire breaks on the way to the client", async () => {
      const { proxy, run } = await open();
      const script = 'i=0; while [ $i -lt 4000 ]; do echo "line $i of a text"; i=$((i+1)); done; exit 5';
      const wanted = Array.from({ length: 4000 }, (_, index) => `line ${index} of a text\n`).join("");
      for (const bytes of [1, 2, 3, 7, 150, 1_001, 5_003, 20_011, 50_021]) {
        const before = proxy.connections;
        const process = await run(["sh", "-c", `read x <&0; ${script}`], "open");
        proxy.cutAfterReceived(bytes);
        await process.write(Buffer.from("go\n"));
        await process.closed;
        expect(process.outcome).toEqual({ kind: "exited", code: 5 });
        expect(await digestOf(process)).toBe(digest(Buffer.from(wanted)));
        expect(process.missing).toEqual([]);
        // A server that has not noticed the cut yet refuses the first attempts.
        expect(proxy.connections).toBeGreaterThan(before);
      }
    });

    it("delivers or counts every byte of what is written during an outage", async () => {
      const { proxy, run } = await open();
      onInterrupted = () => {
        proxy.setDown(true);
        setTimeout(() => proxy.setDown(false), OUTAGE_MS);
      };
      const blocks = 512;
      for (const bytes of [1_000, 300_000, 2_000_000]) {
        const process = await run(["sh", "-c", `yes xxxxxxx | dd bs=8192 count=${blocks} iflag=fullblock status=none`]);
        proxy.cutAfterReceived(bytes);
        await process.closed;
        expect(process.outcome).toEqual({ kind: "exited", code: 0 });
        const { chunks, evicted } = await process.log.read(0);
        const delivered = joinBytes(chunks).length;
        const missing = evicted.reduce((sum, { from, to }) => sum + to - from, 0);
        expect(delivered + missing).toBe(blocks * 8192);
        expect(process.log.end).toBe(blocks * 8192);
        if (!evicts) expect(missing).toBe(0);
        else expect(process.log.getEvicted(0).every(({ estimated }) => estimated)).toBe(true);
      }
    });

    it("writes everything once, wherever the wire breaks on the way to the server", async () => {
      const { proxy, run } = await open();
      for (const bytes of [1, 5, 20, 100, 300, 1_000, 3_000]) {
        const before = proxy.connections;
        const process = await run(["head", "-c", "5000"], "open");
        proxy.cutAfterSent(bytes);
        const lines = Array.from({ length: 50 }, (_, index) => `${String(index).padStart(99, ".")}\n`);
        await Promise.all(lines.map((line) => process.write(Buffer.from(line))));
        await process.closed;
        expect(process.outcome).toEqual({ kind: "exited", code: 0 });
        expect(await digestOf(process)).toBe(digest(Buffer.from(lines.join(""))));
        // A server that has not noticed the cut yet refuses the first attempts.
        expect(proxy.connections).toBeGreaterThan(before);
      }
    });

    it("leaves nothing running when it is closed before the connection is back", async () => {
      const { proxy, client, run } = await open();
      const process = await run(["sh", "-c", "echo $$; exec sleep 300"]);
      await untilOutput(process, "\n");
      const pid = Number(joinBytes((await process.log.read(0)).chunks).toString());
      proxy.cutAfterReceived(1);
      const request = client.call("environment/status", null);
      await expect(request).rejects.toMatchObject({ code: "connection_lost" });
      await client.close();
      expect(await untilGone(pid)).toBe(true);
    });

    it("leaves nothing running when the connection breaks while it is closed", async () => {
      const { proxy, client, run } = await open();
      const process = await run(["sh", "-c", "echo $$; exec sleep 300"]);
      await untilOutput(process, "\n");
      const pid = Number(joinBytes((await process.log.read(0)).chunks).toString());
      proxy.cutAfterSent(1);
      await client.close();
      expect(await untilGone(pid)).toBe(true);
    });

    it("goes on with several processes, cut again and again", async () => {
      const { proxy, run } = await open();
      const script = "i=0; while read line; do i=$((i+1)); echo $i; done";
      const processes = await Promise.all(Array.from({ length: 5 }, () => run(["sh", "-c", script], "open")));
      for (let round = 1; round <= 10; round += 1) {
        cut(proxy, round);
        await Promise.all(processes.map((process) => process.write(Buffer.from("line\n"))));
        await Promise.all(processes.map((process) => untilOutput(process, `${round}\n`)));
      }
      const wanted = Array.from({ length: 10 }, (_, index) => `${index + 1}\n`).join("");
      for (const process of processes) {
        await process.terminate({ graceMs: 0 });
        await process.closed;
        expect(joinBytes((await process.log.read(0)).chunks).toString()).toBe(wanted);
      }
      expect(proxy.connections).toBeGreaterThan(3);
    });
  });
}

/** Long enough for the program to write everything, where it is not paused. */
const OUTAGE_MS = 300;

const cut = (proxy: CuttingProxy, round: number): void =>
  round % 2 === 0 ? proxy.cutAfterSent(round * 61) : proxy.cutAfterReceived(round * 37);

const digest = (bytes: Buffer): string => `${bytes.length} ${createHash("sha256").update(bytes).digest("hex")}`;

const digestOf = async (process: RemoteProcess): Promise<string> =>
  digest(joinBytes((await process.log.read(0)).chunks));
