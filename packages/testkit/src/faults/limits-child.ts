import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExecBackend, type ExecProcess, StartError } from "@codex/exec-backend";
import { wait } from "@codex/exec-server-client";
import { createLocalBackend } from "@codex/process-host";
import { createRandom, type Random } from "../random.js";
import { checkProcess } from "./check-process.js";
import { findLeftOver, readEffects } from "./effects.js";
import { History } from "./history.js";
import { createProgram, type Program } from "./programs.js";

interface Started {
  program: Program;
  file: string;
  process: ExecProcess | undefined;
}

/** Starts many programs concurrently, then a few: under a limit some may be refused, but none may be lost or left running. */
async function main(seed: number, limit: string): Promise<void> {
  const history = new History();
  const random = createRandom(seed, "limits");
  const directory = mkdtempSync(join(tmpdir(), "faults-"));
  const backend = createLocalBackend();
  // Loads modules first, so that descriptors can be counted.
  await check(await runOne(backend, random.fork("first"), join(directory, "first"), history), history);
  const taken = limit === "open files" ? takeDescriptors(random.between(4, 60)) : [];
  const before = countDescriptors();
  const many = Array.from({ length: random.between(10, 40) }, (_, index) =>
    runOne(backend, random.fork(`many ${index}`), join(directory, `many-${index}`), history),
  );
  const started = await Promise.all(many);
  const refused = started.filter(({ process }) => process === undefined).length;
  for (const one of started) await check(one, history);
  // A descriptor is closed slightly after the end of its process.
  for (let tries = 0; tries < 200 && countDescriptors() > before; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const after = countDescriptors();
  history.check(after <= before, () => `${after - before} descriptors are left of ${started.length} programs`);
  const last = await runOne(backend, random.fork("last"), join(directory, "last"), history);
  history.check(last.process !== undefined, () => "nothing can be started after all have ended");
  await backend.close();
  for (const fd of taken) closeSync(fd);
  await check(last, history);
  process.stdout.write(`${started.length + 2} programs, ${refused} refused\n`);
  for (const problem of history.problems) process.stdout.write(`PROBLEM ${problem}\n`);
  rmSync(directory, { recursive: true, force: true });
}

async function runOne(backend: ExecBackend, random: Random, file: string, history: History): Promise<Started> {
  let program = createProgram(random);
  for (let attempt = 1; !program.ends; attempt += 1) program = createProgram(random.fork(`attempt ${attempt}`));
  try {
    const process = await backend.start({
      argv: ["/bin/sh", "-c", program.script],
      cwd: "/tmp",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", FILE: file },
      stdio: { kind: "pipe", stdin: program.stdin },
      log: { headBytes: 1_000, tailBytes: 1_000, spillBytes: 4_000_000 },
    });
    await wait(process);
    return { program, file, process };
  } catch (error) {
    if (!(error instanceof StartError)) history.fail(`a start threw ${String(error)}`);
    else if (!/open files|EMFILE/.test(error.message))
      history.fail(`a refusal does not name the limit: ${error.message}`);
    return { program, file, process: undefined };
  }
}

async function check({ program, file, process }: Started, history: History): Promise<void> {
  const effects = readEffects(file);
  const { chunks, evicted } = (await process?.log.read(0)) ?? { chunks: [], evicted: [] };
  const name = program.name;
  checkProcess(
    {
      name,
      program,
      outcome: process?.outcome,
      start: process === undefined ? "refused" : "started",
      closed: process?.log.complete === true,
      // With two streams, the offsets in the remaining output are not known.
      chunks: evicted.length > 0 && program.output([]).stderr !== "" ? [] : chunks,
      evicted: program.output([]).stderr !== "" ? [] : evicted,
      followed: undefined,
      missing: 0,
      lines: [],
      signals: { sent: 0, answered: 0 },
      resizes: { sizes: [], oneByOne: true },
      ended: evicted.length > 0 && program.output([]).stderr !== "",
      mayBeLost: false,
      codesOnly: false,
    },
    effects,
    history,
  );
  process?.dispose();
  const left = await findLeftOver(effects.pids, 5_000);
  history.check(left.length === 0, () => `${name} was left running: group ${left.join()}`);
}

const countDescriptors = (): number => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);

/** Opens files until only `left` more can be opened. The limit itself is higher, as many modules are loaded at the same time. */
function takeDescriptors(left: number): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    for (const fd of taken.splice(0, left)) closeSync(fd);
    return taken;
  }
}

main(Number(process.argv[2]), process.argv[3] ?? "").catch((error: unknown) => {
  process.stdout.write(`PROBLEM ${error instanceof Error ? error.stack : String(error)}\n`);
});
