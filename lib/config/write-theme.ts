import { mkdirSync, writeFileSync } from "node:fs";
import { logoAsSvg } from "@/lib/config/logo";
import { colours, themeAsCss } from "@/lib/config/theme";

/* Build step: writes the custom properties of the style sheets, the favicon, and the manifest for home screens. */

mkdirSync("dist/theme", { recursive: true });
writeFileSync("dist/theme/theme.css", themeAsCss());
writeFileSync("public/favicon.svg", logoAsSvg());

const [paper] = colours.paper;
const manifest = {
  name: "Corner Office",
  start_url: "/home",
  display: "browser",
  background_color: paper,
  theme_color: paper,
  icons: [
    { src: "/favicon.svg", sizes: "any", type: "image/svg+xml" },
    { src: "/apple-touch-icon.png", sizes: "180x180", type: "image/png" },
  ],
};
writeFileSync("public/site.webmanifest", `${JSON.stringify(manifest, null, 2)}\n`);
