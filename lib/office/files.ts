/** The static files of the office: its own port serves them, and the public one does not. */
export const officeFiles = {
  style: { path: "/office.css", file: "dist/office/office.css", type: "text/css; charset=utf-8" },
  script: { path: "/office.js", file: "dist/office/office.js", type: "text/javascript; charset=utf-8" },
  serif: { path: "/newsreader-2.woff2", file: "public/newsreader-2.woff2", type: "font/woff2" },
  sans: { path: "/instrument-sans-2.woff2", file: "public/instrument-sans-2.woff2", type: "font/woff2" },
  sansLatin: {
    path: "/instrument-sans-latin-2.woff2",
    file: "public/instrument-sans-latin-2.woff2",
    type: "font/woff2",
  },
  icon: { path: "/favicon.svg", file: "public/favicon.svg", type: "image/svg+xml" },
} as const;
