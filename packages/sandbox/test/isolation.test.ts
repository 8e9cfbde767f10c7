import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ENV, outputOf, untilGone, untilOutput } from "../../process-host/test/support.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict, useSandbox } from "./support.js";

const CALLS = fileURLToPath(new URL("system-calls.mjs", import.meta.url));

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`the isolation of a sandbox (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  const sandbox = useSandbox();
  /** May be written; beside it `outside`, which may not. */
  let inside: string;
  let outside: string;
  beforeEach(() => {
    inside = join(sandbox.base, "inside");
    outside = join(sandbox.base, "outside");
    mkdirSync(inside);
    mkdirSync(outside);
    writeFileSync(join(outside, "file"), "untouched\n");
  });
  const run = (script: string, entries = [entry(inside, "write")]) =>
    sandbox.script(script, { cwd: inside, sandbox: restrict([READ_ALL, ...entries]) });
  const untouched = () => {
    expect(readdirSync(outside)).toEqual(["file"]);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("untouched\n");
  };

  it("shows an empty directory where a denied file may appear, so that what is beside that is only missing", async () => {
    const denied = [entry(inside, "write"), entry(join(inside, ".config/git/credentials"), "deny")];
    const script = "cat .config/git/ignore; cat .config/git/credentials; mkdir .config/git; ls -A .config";
    const { output } = await run(script, denied);
    expect(output.match(/No such file or directory/g)).toHaveLength(2);
    expect(output).toContain("Read-only file system");
    expect(output).not.toContain("Permission denied");
  });

  it("makes no system call that reaches further", async () => {
    const results = async (network: "restricted" | "enabled") => {
      const process = await sandbox.start([globalThis.process.execPath, CALLS], {
        cwd: inside,
        sandbox: restrict([READ_ALL, entry(inside, "write")], { network }),
        stdio: { kind: "pty" },
      });
      const output = await outputOf(process);
      expect(process.outcome).toEqual({ kind: "exited", code: 0 });
      return JSON.parse(output) as Record<string, string>;
    };
    const refused = (names: string[]) => Object.fromEntries(names.map((name) => [name, "EPERM"]));
    const always = {
      ...refused(["tiocsti", "tiocsti in disguise", "unshare user", "unshare time", "clone user", "mount", "remount"]),
      ...refused(["umount", "setns", "move_mount", "pivot_root", "chroot", "open_by_handle_at", "bpf", "keyctl"]),
      ...refused(["io_uring_setup", "perf_event_open", "userfaultfd", "block device", "character device"]),
      ...refused(["packet", "vsock", "unix", "unix datagram pair"]),
      ...refused(["set-user-id fchmod", "set-user-id fchmodat", "set-group-id fchmodat2", "set-user-id file"]),
      ...refused(["set-group-id temporary file", "set-user-id node", "set-group-id directory"]),
      ...refused(["trace init", "seize init", "process_vm_readv"]),
      "set-user-id openat2": "ENOSYS",
      clone3: "ENOSYS",
      "unix pair": "ok",
      "pair with flags": "ok",
      fifo: "ok",
    };
    expect(await results("restricted")).toMatchObject({
      ...always,
      ...refused(["ipv4", "ipv6", "netlink", "connect", "bind", "ptrace"]),
    });
    const online = await results("enabled");
    expect(online).toMatchObject({ ...always, fifo: "EEXIST", ipv4: "ok" });
    expect(readdirSync(inside)).toEqual(["fifo"]);
    if (process.arch === "x64") expect(online.x32).toBe("ENOSYS");
  });

  it("reaches no process outside", async () => {
    const victim = spawn("sleep", ["300"]);
    try {
      const { output } = await run(`kill -9 ${victim.pid}; ls -d /proc/${victim.pid}; ls /proc | grep -c '^[0-9]'`);
      expect(output).toContain("No such process");
      expect(Number(output.trim().split("\n").at(-1))).toBeLessThan(10);
      expect(victim.exitCode).toBeNull();
    } finally {
      victim.kill();
    }
  });

  describe("a socket", () => {
    let server: ChildProcess | undefined;
    afterEach(() => server?.kill());
    /** A pair of sockets is the only one of its family that a program can have. */
    const KNOCK = `import os, socket
for at in os.environ["ADDRESSES"].split():
  at = at.replace("@", chr(0))
  for way in (lambda: socket.socket(socket.AF_UNIX).connect(at), lambda: socket.socketpair()[0].sendto(b"x", at)):
    try: way(); print("reached", at)
    except OSError as error: print(error.strerror)`;

    it.each(["restricted", "enabled"] as const)(
      "of a path or an abstract name is not reached, wherever it is, with the network %s",
      async (network) => {
        // In the workspace as well: servers outside make sockets there.
        const addresses = [join(outside, "s"), join(inside, "s"), `@codex-${outside}`];
        const listeners = addresses.map((at) =>
          createServer((socket) => socket.destroy()).listen(at.replace("@", "\0")),
        );
        await Promise.all(listeners.map((listener) => once(listener, "listening")));
        const process = await sandbox.start(["bash", "-c", `ln -s ${outside}/s link; exec python3 -c '${KNOCK}'`], {
          cwd: inside,
          env: { ...ENV, ADDRESSES: [...addresses, "link"].join(" ") },
          sandbox: restrict([READ_ALL, entry(inside, "write")], { network }),
        });
        const output = await outputOf(process);
        for (const listener of listeners) listener.close();
        const [refused, connected] = ["Operation not permitted", "Transport endpoint is already connected"];
        expect(output.trim().split("\n")).toEqual(addresses.concat("link").flatMap(() => [refused, connected]));
      },
    );

    it("of the network is not reached: IPv4, IPv6, names", async () => {
      const listener = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
      await once(listener, "listening");
      const address = listener.address();
      const port = typeof address === "object" ? address?.port : 0;
      const script = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3; exec 3<>/dev/tcp/::1/${port}; exec 3<>/dev/udp/127.0.0.1/53; getent hosts example.com; ls /sys/class/net /proc/net/dev >/dev/null; grep -c : /proc/net/dev`;
      const { output } = await run(script);
      listener.close();
      expect(output).not.toContain("reached");
      // A network of its own, in which there is nothing but `lo`.
      expect(output.split("\n")).toContain("1");
    });
  });

  it("has the devices of every program, and no other", async () => {
    const { output } = await run(
      "ls /dev; cat /dev/kmsg /dev/sda /dev/vda /dev/mem 2>&1 | head -c 100; echo; mknod d b 8 0; echo x > /dev/null && head -c 1 /dev/zero | wc -c",
    );
    const devices = output.split("\n");
    expect(devices).toEqual(expect.arrayContaining(["null", "urandom", "tty", "1"]));
    expect(devices.filter((name) => /^(sd|vd|nvme|loop|kmsg|mem|kvm|fuse)/.test(name))).toEqual([]);
    expect(existsSync(join(inside, "d"))).toBe(false);
  });

  it("has no capabilities and cannot get new ones", async () => {
    const { output } = await run("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
    const status = Object.fromEntries(
      output
        .trim()
        .split("\n")
        .map((line) => line.split(/:\s+/)),
    );
    expect(status).toMatchObject({
      CapPrm: "0000000000000000",
      CapEff: "0000000000000000",
      CapBnd: "0000000000000000",
    });
    expect(status).toMatchObject({ NoNewPrivs: "1", Seccomp: "2" });
  });

  // Opened and not written: a test that fails must not change the host it runs on.
  it("cannot change the kernel's settings", async () => {
    const files =
      "/proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/kernel/uevent_helper";
    const { output } = await run(`for f in ${files}; do (exec 3>>$f) && echo opened $f; done; echo tried`);
    expect(output).toContain("tried");
    expect(output).not.toContain("opened");
  });

  it("finds no file under /proc or /sys to write but those of its own processes", async () => {
    const { output } = await run("find /proc /sys -path '/proc/[0-9]*' -prune -o -type f -writable -print 2>/dev/null");
    // A file under /proc/pressure takes orders to tell its reader something, from anybody.
    expect(output.split("\n").filter((path) => path !== "" && !path.startsWith("/proc/pressure/"))).toEqual([]);
  });

  it("does not steer the wrapper by its environment, nor shows its environment in the list of processes", async () => {
    const hostile = join(inside, "hostile");
    writeFileSync(hostile, `touch ${outside}/new\n`);
    const env = { ...ENV, LD_PRELOAD: "/nowhere.so", BASH_ENV: hostile, LD_LIBRARY_PATH: inside, PASSWORD: "pa55word" };
    const process = await sandbox.start(["sh", "-c", "echo ready; read line"], {
      cwd: inside,
      env,
      sandbox: restrict([READ_ALL, entry(inside, "write")]),
      stdio: { kind: "pipe", stdin: "open" },
    });
    await untilOutput(process, "ready");
    const children = (pid: number): number[] =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
    const init = children(process.pid!)[0]!;
    for (const pid of [process.pid!, init]) {
      expect(readFileSync(`/proc/${pid}/cmdline`, "latin1")).not.toContain("pa55word");
      expect(readFileSync(`/proc/${pid}/environ`, "latin1")).toBe("");
      expect(readFileSync(`/proc/${pid}/maps`, "latin1")).not.toContain("nowhere");
    }
    await process.write(Buffer.from("\n"));
    await process.closed;
    untouched();
  });

  it("does not choose the wrapper by its PATH", async () => {
    writeFileSync(join(inside, "bwrap"), `#!/bin/sh\ntouch ${outside}/new\n`, { mode: 0o755 });
    const process = await sandbox.start(["true"], {
      cwd: inside,
      env: { PATH: `${inside}:${ENV.PATH}` },
      sandbox: restrict([READ_ALL, entry(inside, "write")]),
    });
    expect(await process.exited).toEqual({ kind: "exited", code: 0 });
    untouched();
  });

  it("inherits nothing of this process", async () => {
    const fd = openSync(join(outside, "file"), "r");
    const { output } = await run("ls -1 /proc/self/fd");
    closeSync(fd);
    // `ls` itself reads the directory; nothing else is open.
    expect(
      output
        .trim()
        .split("\n")
        .filter((name) => Number(name) > 2),
    ).toEqual(["3"]);
  });

  it("leaves no process behind, whatever its session", async () => {
    const process = await sandbox.start(
      ["bash", "-c", "setsid -f sleep 301; setsid nohup sleep 301 & echo $$; read -r"],
      {
        cwd: inside,
        sandbox: restrict([READ_ALL]),
        stdio: { kind: "pipe", stdin: "open" },
      },
    );
    await untilOutput(process, "\n");
    const pid = process.pid!;
    await process.write(Buffer.from("\n"));
    expect(await process.exited).toEqual({ kind: "exited", code: 0 });
    expect(await untilGone(pid)).toBe(true);
    const left = execFileSync("sh", ["-c", "ps -eo args | grep -c '^[s]leep 301' || true"]).toString().trim();
    expect(left).toBe("0");
  });
});
