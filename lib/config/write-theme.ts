import { mkdirSync, writeFileSync } from "node:fs";
import { logoAsSvg } from "@/lib/config/logo";
import { themeAsCss } from "@/lib/config/theme";

/* A program of the build: what the style sheets and the browser's tab take from the tokens and the mark. */

mkdirSync("dist/theme", { recursive: true });
writeFileSync("dist/theme/theme.css", themeAsCss());
writeFileSync("public/favicon.svg", logoAsSvg());
