// Prints the processor time, in ms, that this process takes in half a second after it has parsed scripts, and then does nothing.
import { loadShellParser } from "../../dist/index.js";

const parser = await loadShellParser();
const line = 'x="$(echo 1 | sed s/a/b/)"; case "$x" in a*) echo a ;; *) echo b ;; esac\n';
for (let count = 0; count < 20; count += 1) parser.parse(line.repeat(200));
const before = process.cpuUsage();
setTimeout(() => {
  const { user, system } = process.cpuUsage(before);
  console.log(Math.round((user + system) / 1000));
}, 500);
