import { addCopyButtons } from "./browser/copy";
import { rememberLanguage } from "./browser/languages";
import { openPalette } from "./browser/palette";
import { addRun } from "./browser/run";

/*
 * What the documents do where there is JavaScript: `npm run bundle` makes public/documents.js of it. Without it the
 * search is an ordinary form, tabs are chosen, and a sample is copied by hand.
 */

rememberLanguage();
// What is added can wait until the page has been painted.
requestAnimationFrame(() =>
  setTimeout(() => {
    addCopyButtons();
    addRun();
    openPalette();
  }),
);
