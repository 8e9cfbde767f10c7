import { LinkError } from "../links/link-error.js";

/** Exit code of ssh for its own failures. */
const SSH_FAILED = 255;

/** The error for ssh exiting before the remote script printed anything, with advice. */
export function explainSshFailure(
  name: string,
  exitCode: number | undefined,
  how: string,
  stderrTail: string,
): LinkError {
  const said = stderrTail
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  for (const { pattern, code, advice } of KNOWN) {
    const line = said.find((each) => pattern.test(each));
    if (line !== undefined) return new LinkError(code, `ssh to ${name}: ${line.replace(/\.$/, "")}; ${advice(name)}`);
  }
  const last = said.at(-1) ?? `ssh ${how} without a message`;
  const code = exitCode === SSH_FAILED ? "unreachable" : "program_failed";
  return new LinkError(code, `ssh to ${name}: ${last}`);
}

interface Known {
  pattern: RegExp;
  code: "unauthorized" | "unreachable" | "timeout";
  advice(name: string): string;
}

/** First match wins. Texts of OpenSSH. */
const KNOWN: readonly Known[] = [
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    code: "unauthorized",
    advice: () => "its key has changed: find out why, then remove the old one with `ssh-keygen -R`",
  },
  {
    pattern: /Host key verification failed|host key is known for/,
    code: "unauthorized",
    advice: (name) =>
      `its key is not known yet: run \`ssh ${toWords(name)}\` in a terminal once, and compare the fingerprint`,
  },
  {
    pattern: /Permission denied|Too many authentication failures|no mutual signature/i,
    code: "unauthorized",
    advice: (name) => `no key was accepted: see \`ssh-add -l\`, and try \`ssh ${toWords(name)} true\` in a terminal`,
  },
  {
    pattern: /Could not resolve hostname/,
    code: "unreachable",
    advice: () => "the name is neither in ssh's configuration nor in DNS",
  },
  { pattern: /timed out/i, code: "timeout", advice: () => "the host, or a firewall before it, does not answer" },
  { pattern: /Connection refused/, code: "unreachable", advice: () => "no ssh server listens there: check the port" },
];

/** `USER@HOST:PORT` as words of a command line. */
function toWords(name: string): string {
  const [, host = name, port] = /^(.*?)(?::(\d+))?$/.exec(name) ?? [];
  return port === undefined ? host : `-p ${port} ${host}`;
}
