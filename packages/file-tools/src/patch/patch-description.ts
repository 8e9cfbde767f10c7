/** What a model is told of patches. */
export const PATCH_DESCRIPTION = `Changes files. All changes of a patch are made, or none.

*** Begin Patch
*** Add File: PATH
+each line of the new file
*** Update File: PATH
*** Move to: NEW PATH (optional)
@@ a whole line of the file above the change (optional)
 a line that stays
-a line that goes
+a line that comes
*** End of File (optional: the lines before it end the file)
*** Delete File: PATH
*** End Patch

A file may have several chunks, in the order of the file, each after its own \`@@\`. Give about three lines that stay around each change. A file stands in one operation only. Paths are relative to the working directory, or absolute.`;
