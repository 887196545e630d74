// Next reads this file for `next.config.ts`, and would look for `@/` from the folder that it is started in.
import { type Route, read } from "../route";

const file = { methods: read, isShared: true } as const;

/** The files of `public/`. */
export const files = {
  icon: { path: "/favicon.ico", ...file },
  vectorIcon: { path: "/favicon.svg", ...file },
  office: { path: "/office.svg", ...file },
  clientLoop: { path: "/client-loop-wide.svg", ...file },
  clientLoopOnPhones: { path: "/client-loop-narrow.svg", ...file },
  manifest: { path: "/site.webmanifest", ...file },
  touchIcon: { path: "/apple-touch-icon.png", ...file },
  socialCard: { path: "/social-card.png", ...file },
  documentsCard: { path: "/social-card-documents.png", ...file },
  newsCard: { path: "/social-card-news.png", ...file },
  frontPicture: { path: "/picture-front.jpg", ...file },
  operationPicture: { path: "/picture-operation.jpg", ...file },
  homePicture: { path: "/picture-home-trial.jpg", ...file },
  palettePicture: { path: "/picture-palette.jpg", ...file },
  style: { path: "/pages.css", ...file },
  homeStyle: { path: "/home.css", ...file },
  documentsStyle: { path: "/documents.css", ...file },
  script: { path: "/pages.js", ...file },
  homeScript: { path: "/home.js", ...file },
  clerkScript: { path: "/clerk.js", ...file },
  documentsScript: { path: "/documents.js", ...file },
  // A changed font gets another name, because a copy is kept for good.
  serif: { path: "/newsreader-2.woff2", ...file },
  sans: { path: "/instrument-sans-2.woff2", ...file },
  sansLatin: { path: "/instrument-sans-latin-2.woff2", ...file },
  sansLicence: { path: "/instrument-sans-licence.txt", ...file },
  serifLicence: { path: "/newsreader-licence.txt", ...file },
  licence: { path: "/licence.txt", ...file },
} as const satisfies Record<string, Route>;
