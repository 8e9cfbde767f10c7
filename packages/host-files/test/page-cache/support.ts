import { createKernel } from "@codex/native";
import type { ConnectionFileSystem } from "../../src/connection-file-system.js";
import { createFileSystem } from "../../src/file-system.js";
import { createMounts, type MountKind } from "../../src/page-cache/mounts.js";
import {
  createPageCacheReader,
  type PageCacheReader,
  type PageCacheReaderOptions,
} from "../../src/page-cache/page-cache-reader.js";

export interface CountedFiles extends PageCacheReader {
  readonly counts: { asked: number; answered: number };
}

/** The real thing, counted. */
export function countFiles(options: PageCacheReaderOptions = {}): CountedFiles {
  const files = createPageCacheReader(options);
  const counts = { asked: 0, answered: 0 };
  const count = <T>(answer: T | undefined): T | undefined => {
    counts.asked += 1;
    if (answer !== undefined) counts.answered += 1;
    return answer;
  };
  return {
    counts,
    readFile: (params, maxBytes) => count(files.readFile(params, maxBytes)),
    getMetadata: (params) => count(files.getMetadata(params)),
    settled: () => files.settled(),
    close: () => files.close(),
  };
}

/**
 * Whether such a call is ever answered so; `expected` says how hard that is tried. The kernel may have to wait occasionally:
 * while any process mounts or renames something, or when a page was given up.
 */
export async function isEverAnswered(
  files: CountedFiles,
  expected: boolean,
  call: () => Promise<unknown>,
): Promise<boolean> {
  const before = files.counts.answered;
  const most = expected ? 5_000 : 20;
  for (let tries = 0; tries < most && files.counts.answered === before; tries += 1) {
    await call();
    await files.settled();
  }
  return files.counts.answered > before;
}

/** Asks for what is there anyway, so that it is known where files lie. */
export async function settle(files: PageCacheReader, root: string): Promise<void> {
  files.getMetadata({ path: root, sandbox: undefined, followSymlinks: true, extended: false });
  await files.settled();
}

export const connect = (pageCache?: PageCacheReader): ConnectionFileSystem =>
  createFileSystem(pageCache === undefined ? {} : { pageCache }).createConnectionFileSystem({
    onMissingChanged: () => {},
  });

/** Where a directory lies; undefined where nothing there is answered at once. */
export async function kindOf(directory: string): Promise<MountKind | undefined> {
  const kernel = createKernel();
  const found = kernel?.find(directory, { followsLast: true, staysOnRoot: false });
  if (kernel === undefined || found === undefined) return undefined;
  const mounts = createMounts(kernel);
  try {
    mounts.kindOf(found);
    await mounts.settled();
    return mounts.kindOf(found);
  } finally {
    kernel.close(found);
    await mounts.close();
  }
}
