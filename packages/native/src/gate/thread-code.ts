/** The code of the gate's threads: a file beside this one. Where this is part of a bundle, its build puts the code itself here. */
export const THREAD_CODE: { file: URL } | { code: string } = { file: new URL("./thread.js", import.meta.url) };
