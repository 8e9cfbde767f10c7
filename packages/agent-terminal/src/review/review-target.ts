/** Subject of a review. */
export type ReviewTarget =
  /** Staged, unstaged and untracked changes. */
  | { readonly kind: "uncommitted" }
  /** What a merge into this branch would change. */
  | { readonly kind: "base"; readonly branch: string }
  | { readonly kind: "commit"; readonly commit: string; readonly title?: string }
  /** Instructions of the user. */
  | { readonly kind: "custom"; readonly instructions: string };

/** Prompt of a review. Names are quoted as JSON. Pure. */
export function describeReview(target: ReviewTarget): string {
  switch (target.kind) {
    case "uncommitted":
      return "Review the changes in the working directory that are not committed: staged, unstaged and untracked files.";
    case "base": {
      const branch = JSON.stringify(target.branch);
      return `Review what a merge of the current branch into the branch ${branch} would change: find the merge base of HEAD and that branch, or its upstream where that is ahead, and read the diff from there.`;
    }
    case "commit": {
      const title = target.title === undefined ? "" : ` (${JSON.stringify(target.title)})`;
      return `Review the changes of the commit ${JSON.stringify(target.commit)}${title}.`;
    }
    case "custom":
      return target.instructions;
  }
}
