// How the sides are measured in turns, and how what came out is printed.
import { median } from "../harness.mjs";

export const SIDES = ["ours", "other"];

/**
 * Milliseconds of each round, in blocks: some rounds of one side, then of the other, several times, so that drift of the
 * machine meets both, and neither is measured on a processor that has gone idle while the other waited. The first
 * rounds of a block do not count. A round that returns a number has measured itself.
 */
export async function inBlocks(subjects, rounds, { blocks = 4, warmUp = Math.ceil(rounds / 10) } = {}) {
  const times = { ours: [], other: [] };
  const perBlock = Math.max(1, Math.round(rounds / blocks));
  for (let block = 0; block < Math.min(blocks, rounds); block += 1) {
    for (const side of block % 2 === 0 ? SIDES : SIDES.toReversed()) {
      for (let round = -warmUp; round < perBlock; round += 1) {
        const start = performance.now();
        const own = await subjects[side]();
        if (round >= 0) times[side].push(typeof own === "number" ? own : performance.now() - start);
      }
    }
  }
  return times;
}

export class Report {
  #rows = [];

  /** `goal`: `≤ 0.5` or `≥ 3` is about ours/other; with `of: "ours"` about our figure itself. */
  add(what, unit, { ours, other }, goal, { of = "ratio" } = {}) {
    const value = (measured) => (Array.isArray(measured) ? median(measured) : measured);
    const [mine, theirs] = [value(ours), value(other)];
    const ratio = mine / theirs;
    const row = {
      what,
      unit,
      ours: digits(mine),
      other: digits(theirs),
      "ours/other": digits(ratio),
      goal: "",
      met: "",
    };
    if (goal !== undefined) {
      row.goal = of === "ours" ? `${goal} ${unit}` : goal;
      row.met = isMet(of === "ours" ? mine : ratio, goal) ? "yes" : "NO";
    }
    this.#rows.push(row);
    console.error(
      `${row.met.padEnd(4)}${what}: ${row.ours} against ${row.other} ${unit}, ${row["ours/other"]} ${row.goal}`,
    );
  }

  get rows() {
    return this.#rows;
  }
}

const digits = (value) => (Number.isFinite(value) ? +value.toPrecision(3) : "-");

function isMet(value, goal) {
  const [sign, limit] = goal.split(" ");
  return sign === "≤" ? value <= Number(limit) : value >= Number(limit);
}
