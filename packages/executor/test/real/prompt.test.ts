import { describe, expect, it } from "vitest";
import { hasProgram } from "../support/programs.js";
import { idOf, useRealHosts } from "../support/real-host.js";

const ENV = {
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  TERM: "xterm",
  LC_ALL: "C.UTF-8",
  PS1: "$ ",
  HOME: process.env.HOME ?? "/tmp",
};

/** A program that waits for input at once, what it writes before, and the input that ends it. */
const PROGRAMS: { name: string; needs: string; command: string[]; says: RegExp; end: string; pipe?: true }[] = [
  { name: "bash", needs: "bash", command: ["bash", "--norc", "--noprofile", "-i"], says: /\$ $/, end: "exit\n" },
  { name: "sh", needs: "sh", command: ["sh"], says: /[$#] $/, end: "exit\n" },
  { name: "Python", needs: "python3", command: ["python3", "-q"], says: />>> /, end: "exit()\n" },
  { name: "Node", needs: "node", command: ["node", "-i"], says: /> /, end: ".exit\n" },
  { name: "gdb", needs: "gdb", command: ["gdb", "-q", "-nx"], says: /\(gdb\) /, end: "quit\n" },
  { name: "cat", needs: "cat", command: ["cat"], says: /^$/, end: "\u0004" },
  {
    name: "a question for a password",
    needs: "bash",
    command: ["bash", "-c", "read -s -p 'Password: ' x"],
    says: /Password: $/,
    end: "secret\n",
  },
  {
    name: "Python's question for a password",
    needs: "python3",
    command: ["python3", "-c", "import getpass; getpass.getpass()"],
    says: /Password: $/,
    end: "secret\n",
  },
  { name: "vim", needs: "vim", command: ["vim", "-u", "NONE", "-i", "NONE"], says: /VIM/, end: ":q\r" },
  { name: "less", needs: "less", command: ["less", "/etc/passwd"], says: /root/, end: "q" },
  {
    name: "a pager at the end of a pipe",
    needs: "less",
    command: ["bash", "-c", "seq 1 5000 | less"],
    says: /20/,
    end: "q",
  },
  {
    name: "a job of an interactive shell",
    needs: "bash",
    command: ["bash", "--norc", "--noprofile", "-ic", "head -c 1 | cat"],
    says: /^$/,
    end: "x\n",
  },
  { name: "cat on a pipe", needs: "cat", command: ["cat"], says: /^$/, end: "", pipe: true },
  {
    name: "Python on a pipe",
    needs: "python3",
    command: ["python3", "-c", "input()"],
    says: /^$/,
    end: "",
    pipe: true,
  },
  {
    name: "the second program of a pipe",
    needs: "bash",
    command: ["bash", "-c", "cat | tr a b"],
    says: /^$/,
    end: "",
    pipe: true,
  },
];

describe.skipIf(process.platform !== "linux")("the prompt (needs Linux) of", () => {
  const open = useRealHosts();

  describe.each(PROGRAMS)("$name", ({ needs, command, says, end, pipe }) => {
    it.skipIf(!hasProgram(needs))(`is seen (needs ${needs})`, async () => {
      const client = open();
      const stdio = pipe ? { stdin: "open" as const } : { tty: true };
      let { result, output } = await client.exec({ command, env: ENV, ...stdio, until: "prompt" });
      let seen = output;
      // Under load a program may rest before it has begun to speak.
      while (result.waitEnded === "prompt" && !says.test(seen)) {
        ({ result, output } = await client.write({ processId: result.processId!, until: "output" }));
        seen += output;
        ({ result, output } = await client.write({ processId: result.processId!, until: "prompt" }));
        seen += output;
      }
      expect(result).toMatchObject({ waitEnded: "prompt", outcome: { kind: "running" } });
      expect(seen).toMatch(says);
      const ended = await client.write({ processId: result.processId!, input: end, closeStdin: pipe ?? false });
      expect(ended.result.outcome.kind).not.toBe("running");
    });
  });

  it.each([
    { name: "sleep", command: ["sleep", "300"], tty: true },
    { name: "a shell that waits for another", command: ["sh", "-c", "sleep 300; read x"], tty: true },
    { name: "a loop", command: ["sh", "-c", "while :; do :; done"], tty: true },
    { name: "sleep on pipes", command: ["sleep", "300"], tty: false },
  ])("$name is not seen", async ({ command, tty }) => {
    const client = open();
    const { result } = await client.exec({ command, tty, stdin: "open", until: "prompt", yieldTimeMs: 1_500 });
    expect(result.waitEnded).toBe("window");
  });

  it.skipIf(!hasProgram("python3"))("Python ends each turn of a conversation (needs python3)", async () => {
    const client = open();
    const id = idOf(await client.exec({ command: ["python3", "-q"], env: ENV, tty: true, until: "prompt" }));
    for (const [input, wanted] of [
      ["6 * 7", "42"],
      ["import time; time.sleep(0.5); print('slept')", "slept"],
      ["'\\n'.join(str(n) for n in range(3000))", "2999"],
    ]) {
      const { output, result } = await client.write({ processId: id, input: `${input}\n`, until: "prompt" });
      expect(result.waitEnded).toBe("prompt");
      expect(output).toContain(wanted);
      expect(output).toMatch(/>>> (\u001b\S*)?$/);
    }
  });
});
