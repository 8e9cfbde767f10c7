/** A parsed patch: what to do with which files. */
export interface Patch {
  /** From `*** Environment ID: …`: the environment whose files are meant. */
  environmentId?: string;
  operations: readonly Operation[];
}

/** What a patch does with one file. `line` is the line of its header, from 1 on. */
export type Operation = AddFile | DeleteFile | UpdateFile;

/** Makes a file, or replaces its content. */
export interface AddFile {
  kind: "add";
  /** As in the patch, without blanks around it. */
  path: string;
  line: number;
  /** Without line ends; each gets a newline. */
  lines: readonly string[];
}

/** Removes a file. */
export interface DeleteFile {
  kind: "delete";
  path: string;
  line: number;
}

/** Changes a file, moves it, or both. */
export interface UpdateFile {
  kind: "update";
  path: string;
  line: number;
  /** New place of the file. */
  moveTo?: string;
  /** Empty for a move that changes nothing. */
  chunks: readonly Chunk[];
}

/** Lines that follow each other in a file, and what becomes of them. */
export interface Chunk {
  /** Of its first line in the patch. */
  line: number;
  /** A whole line of the file behind which the lines are. */
  header?: string;
  lines: readonly ChunkLine[];
  /** The lines end the file. */
  isAtEnd: boolean;
}

/** A line of a chunk, without line end. */
export interface ChunkLine {
  kind: "context" | "add" | "remove";
  text: string;
}

/** Why a patch cannot be parsed or applied, in words that let its author correct it. */
export interface PatchProblem {
  message: string;
  /** Line of the patch, from 1 on. */
  line?: number;
  /** The file that it concerns, as in the patch. */
  path?: string;
}

/** Carries a PatchProblem out of the parser or the matcher. */
export class PatchError extends Error {
  readonly problem: PatchProblem;

  constructor(problem: PatchProblem) {
    super(problem.message);
    this.name = "PatchError";
    this.problem = problem;
  }
}
