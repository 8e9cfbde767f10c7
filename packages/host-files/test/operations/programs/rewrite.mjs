import { createFileSystem } from "../../../dist/file-system.js";

/** Rewrites the file of its argument in turns with two contents, and says so each time. */
const [path, first, second] = process.argv.slice(2);
const files = createFileSystem().createConnectionFileSystem({ onMissingChanged: () => {} });
for (let turn = 0; ; turn += 1) {
  const dataBase64 = Buffer.from(turn % 2 === 0 ? second.repeat(2_000_000) : first.repeat(3_000_000));
  await files.writeFile({ path, dataBase64, followSymlinks: true, atomic: true });
  process.stdout.write("written\n");
}
