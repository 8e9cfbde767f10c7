// What the workers do, over and over: programs whose every byte and whose end are known beforehand.
import { createHash } from "node:crypto";

/** Every job: `run(target, random)` resolves with a description of what was wrong, or undefined. */
export const JOBS = {
  async burst(target, random) {
    const lines = 1 + Math.floor(random() * 40_000);
    return compare(target, ["seq", "1", String(lines)], { tty: false }, sequence(lines), { kind: "exited", code: 0 });
  },
  async terminalBurst(target, random) {
    const lines = 1 + Math.floor(random() * 20_000);
    const expected = sequence(lines).replaceAll("\n", "\r\n");
    return compare(target, ["seq", "1", String(lines)], { tty: true }, expected, { kind: "exited", code: 0 });
  },
  async code(target, random) {
    const code = Math.floor(random() * 256);
    return compare(target, ["sh", "-c", `exit ${code}`], {}, "", { kind: "exited", code });
  },
  async suicide(target) {
    return compare(target, ["sh", "-c", "echo before; kill -9 $$"], {}, "before\n", {
      kind: "signaled",
      signal: "SIGKILL",
    });
  },
  async pipe(target, random) {
    const text = `${"x".repeat(Math.floor(random() * 5000))}\n`;
    const act = async ({ write }) => write(`${text}end\n`);
    const program = ["sed", "-u", "/^end$/q"];
    return compare(target, program, { act }, `${text}end\n`, { kind: "exited", code: 0 });
  },
  async shell(target, random) {
    const [one, two] = [random(), random()].map((value) => Math.floor(value * 1000));
    let seen = "";
    const outcome = await target.run(["bash", "--norc", "-i"], {
      tty: true,
      onBytes: (bytes) => {
        seen += bytes;
      },
      onStart: ({ write }) => void write(`echo sum$((${one}+${two}))\nexit 7\n`).catch(() => {}),
    });
    if (!seen.includes(`sum${one + two}\r\n`)) return `a shell said ${JSON.stringify(seen)}`;
    return differs(outcome, { kind: "exited", code: 7 });
  },
  async killed(target) {
    let ready = () => {};
    const started = new Promise((resolve) => {
      ready = resolve;
    });
    const outcome = await target.run(["sh", "-c", "echo up; sleep 1000 & sleep 1000"], {
      onBytes: () => ready(),
      onStart: ({ kill }) => void started.then(kill).catch(() => {}),
    });
    return differs(outcome, { kind: "signaled", signal: "SIGKILL" });
  },
  async idle(target, random) {
    const seconds = (random() * 3).toFixed(2);
    return compare(target, ["sh", "-c", `sleep ${seconds}; echo woke`], {}, "woke\n", { kind: "exited", code: 0 });
  },
};

/** Bytes that came, of all jobs. */
export const counted = { bytes: 0, unaccounted: 0 };

async function compare(target, argv, { tty = false, act }, expected, wanted) {
  const hash = createHash("sha256");
  let bytes = 0;
  const outcome = await target.run(argv, {
    tty,
    onBytes: (piece) => {
      bytes += piece.length;
      hash.update(piece);
    },
    onStart: (program) => void act?.(program).catch(() => {}),
  });
  counted.bytes += bytes;
  const length = Buffer.byteLength(expected);
  counted.unaccounted += Math.abs(length - bytes);
  if (hash.digest("hex") !== createHash("sha256").update(expected).digest("hex")) {
    return `${argv.join(" ")}: ${bytes} bytes of ${length}, and other ones; ${JSON.stringify(outcome)}`;
  }
  return differs(outcome, wanted);
}

function differs(outcome, wanted) {
  const same = Object.entries(wanted).every(([name, value]) => outcome[name] === value);
  return same ? undefined : `ended as ${JSON.stringify(outcome)}, not as ${JSON.stringify(wanted)}`;
}

const sequences = new Map();
function sequence(lines) {
  if (sequences.size > 50) sequences.clear();
  let text = sequences.get(lines);
  if (text === undefined) {
    text = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join("");
    sequences.set(lines, text);
  }
  return text;
}
