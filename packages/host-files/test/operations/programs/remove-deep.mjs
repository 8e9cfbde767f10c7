import { createFileSystem } from "@codex/host-files";

/** Removes the tree of its argument; to be started with fewer descriptors than the tree is deep. */
const files = createFileSystem().createConnectionFileSystem({ onMissingChanged: () => {} });
await files.remove({ path: process.argv[2], recursive: true, force: false, followSymlinks: true });
await files.dispose();
