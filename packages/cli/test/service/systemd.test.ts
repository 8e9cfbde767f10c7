// Listeners as services: under a stand-in that speaks the protocols of systemd (a passed socket, sd_notify, watchdog, reload).
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { useCommand } from "../support.js";
import { canSupervise, Supervised } from "./supervised.js";

const command = useCommand();
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "codex-service-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

const SERVICES: readonly [string, string[]][] = [
  ["executor", []],
  ["exec-server", []],
  ["rendezvous", []],
  ["mcp-server", []],
];

describe.skipIf(!canSupervise)("a listener under a service manager", () => {
  it.each(SERVICES)(
    "%s serves the socket it was passed, and tells when it is ready, reloads and stops",
    async (name, args) => {
      const service = new Supervised(home, [name, "--listen", "fd://", ...args]);
      const address = await service.address();
      const ready = (await service.message("READY=1")).value as string[];
      expect(ready.find((line) => line.startsWith("STATUS="))).toContain(address);
      for (const page of ["readyz", "healthz"]) expect((await fetch(`http://${address}/${page}`)).status).toBe(200);
      const before = service.events.length;
      service.send("HUP");
      const reloading = (await service.message("RELOADING=1", before)).value as string[];
      expect(reloading.find((line) => /^MONOTONIC_USEC=\d+$/.test(line))).toBeDefined();
      await service.message("READY=1", before);
      service.send("TERM");
      await service.message("STOPPING=1");
      expect((await service.next(({ kind }) => kind === "exit")).value).toBe(0);
    },
  );

  it("shows signs of life more often than the watchdog wants them", async () => {
    const service = new Supervised(home, ["executor", "--listen", "fd://front"], 600_000);
    await service.message("READY=1");
    const signs = () =>
      service.events.filter(({ value }) => Array.isArray(value) && value.includes("WATCHDOG=1")).length;
    await service.message("WATCHDOG=1");
    const until = performance.now() + 1200;
    while (performance.now() < until) await pause(50);
    expect(signs()).toBeGreaterThan(2);
  });

  it("clients that come while it is restarted are served afterwards", async () => {
    const service = new Supervised(home, ["executor", "--listen", "fd://"]);
    const address = await service.address();
    await service.message("READY=1");
    service.send("TERM");
    await service.next(({ kind }) => kind === "exit");
    const answer = fetch(`http://${address}/readyz`);
    service.send("START");
    expect((await answer).status).toBe(200);
  });

  it("programs are told nothing that is for the service", async () => {
    const service = new Supervised(home, ["executor", "--listen", "fd://"], 60_000_000);
    const address = await service.address();
    await service.message("READY=1");
    const listed = await command.run([
      "run",
      "--executor",
      `ws://${address}`,
      "--",
      "bash",
      "-c",
      "env; ls -l /proc/self/fd",
    ]);
    expect(listed.stdout.toString()).toContain("PATH=");
    expect(listed.stdout.toString()).not.toMatch(/NOTIFY_SOCKET|LISTEN_|WATCHDOG|socket:/);
  });

  it.each([
    ["fd://", "no socket was passed"],
    ["fd://other", 'no such socket was passed; there are "front"'],
  ])("%s without such a socket is an error: %s", async (listen, problem) => {
    if (listen === "fd://") {
      const refused = await command.run(["executor", "--listen", listen]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
      return;
    }
    const service = new Supervised(home, ["executor", "--listen", listen]);
    expect((await service.next(({ kind }) => kind === "exit")).value).toBe(2);
    expect(service.stderr).toContain(problem);
  });
});

describe("--drain", () => {
  it.each(["executor", "exec-server"])("%s lets a program end by itself, and starts nothing more", async (name) => {
    const server = command.start([name, "--listen", "ws://127.0.0.1:0", "--drain", "60"]);
    const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    const go = join(home, "go");
    const running = command.start([
      "run",
      "--executor",
      url,
      "--",
      "bash",
      "-c",
      `echo begun; until [ -e ${go} ]; do sleep 0.05; done; echo done; exit 7`,
    ]);
    const lines: string[] = [];
    const reader = createInterface({ input: running.stdout }).on("line", (line) => lines.push(line));
    await once(reader, "line");
    server.kill("SIGTERM");
    const probe = url.replace("ws:", "http:");
    while ((await fetch(`${probe}/readyz`)).status !== 503) await pause(20);
    expect((await fetch(`${probe}/healthz`)).status).toBe(200);
    const late = await command.run(["run", "--executor", url, "--", "true"]);
    expect(late).not.toMatchObject({ code: 0 });
    expect(late.stderr).toContain("shutting down");
    execFileSync("touch", [go]);
    const [code] = await once(running, "close");
    expect({ code, lines }).toEqual({ code: 7, lines: ["begun", "done"] });
    const [ended] = server.exitCode === null ? await once(server, "exit") : [server.exitCode];
    expect(ended).toBe(0);
  });

  it("what still runs at its end is ended, and told how", async () => {
    const { child, url } = await command.listen(["--drain", "0.5"]);
    const running = command.start(["run", "--executor", url, "--", "bash", "-c", "echo begun; sleep 600"]);
    await once(running.stdout, "data");
    child.kill("SIGTERM");
    const [code] = await once(running, "close");
    expect(code).toBe(143);
  });
});
