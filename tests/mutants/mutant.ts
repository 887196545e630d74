/**
 * Plausible mistakes in words, by the test that should notice them and by the file in which they are made. Each is a source
 * text and what it becomes, or a source text that is gone.
 */
export type Mistakes = {
  [test: string]: { [file: string]: { [mistake: string]: string | [was: string, becomes: string] } };
};
