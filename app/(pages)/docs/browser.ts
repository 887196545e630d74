import { addCopyButtons } from "./browser/copy";
import { rememberLanguage } from "./browser/languages";
import { followMoved } from "./browser/moved";
import { openPalette } from "./browser/palette";
import { addRun } from "./browser/run";

/* The script of the documents. Without it the search is a form, tabs still work, and samples are copied by hand. */

followMoved();
rememberLanguage();
// These additions can wait until the page has been painted.
requestAnimationFrame(() =>
  setTimeout(() => {
    addCopyButtons();
    addRun();
    openPalette();
  }),
);
