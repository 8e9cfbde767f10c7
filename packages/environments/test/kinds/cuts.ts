import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ENV, joinBytes } from "../../../process-host/test/support.js";
import type { Environment } from "../../src/index.js";
import type { OpenedEnvironment } from "./body.js";

/** The contract for lost connections: nothing is lost, or there is an error. */
export function describeCuts(open: () => Promise<OpenedEnvironment>): void {
  let opened: OpenedEnvironment;
  let environment: Environment;
  let statuses: string[];
  let stopListening: () => void;
  beforeAll(async () => {
    opened = await open();
    ({ environment } = opened);
    statuses = [];
    stopListening = environment.onStateChange(({ status }) => statuses.push(status));
    await environment.files.getMetadata("/");
  });
  afterEach(async () => {
    await expect.poll(() => environment.state.status).toBe("ready");
  });
  afterAll(async () => {
    stopListening?.();
    await opened?.close();
  });

  /** Resolves when the loss was detected. */
  const cut = async () => {
    await expect.poll(() => environment.state.status).toBe("ready");
    const before = statuses.length;
    opened.cut?.();
    await expect.poll(() => statuses.slice(before)).toContain("reconnecting");
  };
  const run = (argv: string[], stdin: "null" | "open") =>
    environment.backend.start({ argv, cwd: "/tmp", env: ENV, stdio: { kind: "pipe", stdin } });

  it("loses and repeats no output, no line of input and no exit", async () => {
    const script =
      'r=0; while [ $r -lt 4 ] && read -r line; do seq -f "$r $line %06.0f" 10000; r=$((r+1)); done; exit 5';
    const program = await run(["sh", "-c", script], "open");
    const ends: number[] = [];
    let expected = "";
    // Bytes of a round after which the connection is cut.
    for (const [round, bytes] of [0, 1, 20_000, 120_000].entries()) {
      const began = expected.length;
      for (let line = 1; line <= 10_000; line += 1) expected += `${round} word ${String(line).padStart(6, "0")}\n`;
      const writing = program.write(Buffer.from("word\n"));
      if (bytes > 0) await program.log.waitFor(began + bytes - 1);
      await cut();
      await writing;
      ends.push(expected.length);
      if (round < 3) await program.log.waitFor(expected.length - 1);
    }
    expect(await program.exited).toEqual({ kind: "exited", code: 5 });
    await program.closed;
    expect(digest(joinBytes((await program.log.read(0)).chunks))).toBe(digest(Buffer.from(expected)));
  });

  it("applies each of many writes once, in order", async () => {
    const lines = Array.from({ length: 200 }, (_, index) => `${String(index).padStart(99, ".")}\n`);
    const program = await run(["head", "-c", String(lines.length * 100)], "open");
    const writing = lines.map((line) => program.write(Buffer.from(line)));
    await writing[0];
    await cut();
    await Promise.all(writing);
    expect(await program.exited).toEqual({ kind: "exited", code: 0 });
    await program.closed;
    expect(joinBytes((await program.log.read(0)).chunks).toString()).toBe(lines.join(""));
  });

  it("reads a file again, and reports the outcome of a write as unknown", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "cuts ")));
    try {
      const bytes = Buffer.alloc(6_000_000, "0123456789abcde\n");
      const [kept, other] = [join(folder, "kept"), join(folder, "other")];
      await environment.files.writeFile(kept, bytes);
      const reading = environment.files.readFile(kept);
      await cut();
      expect((await reading).equals(bytes)).toBe(true);
      await expect.poll(() => environment.state.status).toBe("ready");
      const writing = environment.files.writeFile(other, bytes).then(
        () => "written",
        (error: unknown) => error,
      );
      await cut();
      const how = await writing;
      if (how === "written") expect((await environment.files.readFile(other)).equals(bytes)).toBe(true);
      else expect(how).toMatchObject({ code: "connection_lost" });
      await environment.files.writeFile(other, bytes);
      expect((await environment.files.readFile(other)).equals(bytes)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("ends pending bodies and requests with an error, and repeats none", async () => {
    const seen: string[] = [];
    const web = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      if (request.url === "/body") response.write("part");
      else if (request.url === "/") response.end("whole");
    });
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    // Listening on TCP, so it is no path.
    const site = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    try {
      const { body } = await environment.http.stream({ url: `${site}/body` });
      const pieces = body[Symbol.asyncIterator]();
      expect((await pieces.next()).value?.toString()).toBe("part");
      const failures = Promise.allSettled([
        pieces.next(),
        environment.http.request({ method: "POST", url: `${site}/held` }),
      ]);
      await expect.poll(() => seen).toEqual(["GET /body", "POST /held"]);
      await cut();
      const lost = { status: "rejected", reason: { code: "connection_lost" } };
      expect(await failures).toMatchObject([lost, lost]);
      expect((await environment.http.request({ url: `${site}/` })).body.toString()).toBe("whole");
      expect(seen).toEqual(["GET /body", "POST /held", "GET /"]);
    } finally {
      web.closeAllConnections();
      web.close();
    }
  });
}

const digest = (bytes: Buffer): string => `${bytes.length} ${createHash("sha256").update(bytes).digest("hex")}`;
