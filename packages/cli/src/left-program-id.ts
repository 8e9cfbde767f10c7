/** A program on an exec-server: its session, which whoever knows it can take up, and the process in it. */
export interface LeftProgram {
  session: string;
  process: string;
}

/** `SESSION/PROCESS`; undefined for other texts. */
export function parseLeftProgram(text: string): LeftProgram | undefined {
  const [, session, process] = /^([\w-]{8,128})\/([\w-]{1,128})$/.exec(text) ?? [];
  return session === undefined || process === undefined ? undefined : { session, process };
}
